"""What the target is asked to write: chats that it begins itself, and tasks about passages that it wrote before.

Knows kinds of conversation as text, and draws one. Does not know models or how text is sampled. There is no data
set behind it: openings of a few words only set the kind, and the target writes the rest of the question.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Encode = Callable[[str], tuple[int, ...]]

ANSWER_TEMPERATURES = (0.0, 0.0, 0.0, 0.0, 0.5, 0.8, 0.8, 1.0)
"""Half of the answers are greedy: that is where drafts are judged first."""
USER_TEMPERATURES = (0.7, 0.85, 1.0)
USER_TOKENS, ANSWER_TOKENS = 48, 128
LEAST_PASSAGE = 30
"""Ids below which an answer is no passage."""
KINDS = (("free", 0.2), ("opening", 0.38), ("writing", 0.1), ("task", 0.32))


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.replace("\n", "").split("|"))


OPENINGS = _listed("""
What is|What are|What does|What happens when|What is the difference between|Why is|Why do|How does|How do I|
How can I|How many|How long|When did|Where is|Who was|Who invented|Which|Is it|Are there|Can you explain|
Explain|Explain in simple terms|Define|Describe|Describe the process of|Tell me about|Give me|Give an example of|
Compare|List the|List five|Name three|Hello|Hi!|Hi, my name is|Good morning|Thank you|I am|I am feeling|I am planning|
I need help with|I would like to|I have a|My friend|My dog|My boss|Can you help me|Could you recommend|Should I|
Please suggest|Do you know|Do you like|Let's talk about|Plan a|Write an email|Write a letter to|Write a poem about|
Write a story about|Write a story in which|Tell a story about a|Tell me a tale of|Once there was|
Continue this story: One morning|Continue this story: The old|Write a fairy tale about|Write a dialogue between|
Finish the story: Long ago, a young|Make up a story about two|Imagine|Calculate|Calculate the|Solve|
Solve for x:|Find the|Find the sum of|What is the value of|What is the perimeter of|What is the volume of|
If a car travels|If I have|A shop sells|There are|Tom has|A train|What is 12|What is 7|How much is|Convert|
Write the first|Count from|List the even numbers|List the prime numbers|What is the formula for|Prove that|
Simplify|What is a triangle|What percentage|Write a Python|Write a Python function|Write a Python program that|
Write a Python class|Write a function that|Write a function to|Write a JavaScript function|Write a SQL query|
Write a C program|Write code that|Implement a|Explain this code:|How do I sort|Create a class|Write a loop|
Write a test for|Write a program to|Design a|Create a|Make a table of|Summarize the|Translate the|Rewrite the sentence|
Correct the sentence|In your opinion|Recommend|Give three reasons|Give advice on|What should I|Which is better""")
WRITING = _listed("""
Write a short paragraph about|Write a news report about|Write a short article on|Write a few sentences about|
Write a description of|Write a short biography of|Write a notice about|Write an announcement for|
Write the minutes of a meeting about|Write a product description of|Write a paragraph on the history of|
Write an encyclopedia entry on|Write a diary entry about|Write a weather report for|Write a review of|
Write a short scene about|Write simple facts about|Write instructions for|Write a company profile of""")
TASKS = (
    "Summarise this text in one sentence:\n\n{}",
    "Summarize the text below.\n\n{}",
    "Give a brief summary of the following passage:\n\n{}",
    "{}\n\nSummarise the passage above in a few words.",
    "Write a summary of this article.\n\nArticle: {}",
    "What are the key points of this text?\n\n{}",
    "List the main facts in the text.\n\n{}",
    "Make a bullet list of the most important facts.\n\nText: {}",
    "Translate the following text into German.\n\n{}",
    "Translate into French: {}",
    "Translate this text to Spanish:\n\n{}",
    "Translate to Italian.\n\n{}",
    "Repeat this text word for word:\n\n{}",
    "Copy the text below without any change.\n\n{}",
    "Write this text again:\n\n{}",
    "Find all the names in this text:\n\n{}",
    "Extract every number and date from the text.\n\n{}",
    "Which places and people does the text mention?\n\n{}",
    "Correct the mistakes in this text.\n\n{}",
    "Fix the spelling and grammar: {}",
    "Rewrite the text in simple English.\n\n{}",
    "Rewrite this in a more formal tone:\n\n{}",
    "Improve the style of this paragraph:\n\n{}",
    "Find a title for this text:\n\n{}",
    "Continue the text:\n\n{}",
    "Write three questions about this text and answer them.\n\n{}",
    "Read the text and say what it is about.\n\n{}",
)
QUESTIONS = (
    "Use the text to answer the question.\n\nText: {}\n\nQuestion:",
    "Context: {}\n\nAnswer with the help of the context.\n\nQuestion:",
    "Answer from the passage.\n\n{}\n\nQ:",
    "Passage:\n{}\n\nBased on the passage,",
    "{}\n\nAccording to this text,",
)
ASKED = (" What", " Who", " When", " Where", " How", " Why", " Which", "")


@dataclass(frozen=True, slots=True)
class Script:
    """One conversation to come. given: the start of the user's turn; the target goes on from there for at most
    `user_tokens` ids (0: the turn is complete), then answers. passage: the answer may serve as a passage later."""

    kind: str
    given: tuple[int, ...]
    user_tokens: int
    user_temperature: float
    answer_temperature: float
    answer_tokens: int = ANSWER_TOKENS

    @property
    def passage(self) -> bool:
        return self.kind == "writing"


def draw(coin: random.Random, passages: Sequence[str], encode: Encode) -> Script:
    """A conversation of a random kind. Without passages yet, more are written."""
    kind = coin.choices([name for name, _ in KINDS], [weight for _, weight in KINDS])[0]
    if kind == "task" and len(passages) < 8:
        kind = "writing"
    user, answer = coin.choice(USER_TEMPERATURES), coin.choice(ANSWER_TEMPERATURES)
    match kind:
        case "free":
            return Script(kind, (), USER_TOKENS, user, answer)
        case "opening":
            return Script(kind, encode(coin.choice(OPENINGS)), USER_TOKENS, user, answer)
        case "writing":
            return Script(kind, encode(coin.choice(WRITING)), 24, max(user, 0.85), coin.choice((0.0, 0.7, 0.9)))
        case _:
            passage = shortened(coin, coin.choice(passages))
            if coin.random() < 0.3:
                given = coin.choice(QUESTIONS).format(passage) + coin.choice(ASKED)
                return Script(kind, encode(given), 24, user, answer)
            return Script(kind, encode(coin.choice(TASKS).format(passage)), 0, user, answer)


def shortened(coin: random.Random, passage: str) -> str:
    """The passage up to the end of one of its sentences."""
    ends = [i + 1 for i, mark in enumerate(passage) if mark in ".!?" and passage[i + 1 : i + 2] in ("", " ", "\n")]
    return passage[: coin.choice(ends[-4:])].strip() if ends else passage.strip()
