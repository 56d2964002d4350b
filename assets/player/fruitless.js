// Whether a draft guesses nothing right for long: a sign that it does not belong to its target. No page.

/** Rounds in a row, from which on it is no bad luck any more. */
export const LONG = 20;

/** How many of the last rounds in a row tested guesses and kept none; rounds that guessed nothing count neither way. */
export function fruitless(rounds) {
  let streak = 0;
  for (let i = rounds.length - 1; i >= 0; i--) {
    const { drafted, judged } = rounds[i];
    if (judged.fates.includes("accepted")) break;
    if (drafted.tokens.length) streak += 1;
  }
  return streak;
}
