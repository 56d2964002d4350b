def decode(model, prompt, steps):
    """Greedy decoding behind a prompt."""
    text, cache = list(prompt), []
    model.feed(text[:-1], cache)
    for _ in range(steps):
        logits = model.feed(text, [])
        # fix:         logits = model.feed(text[len(cache):], cache)
        text.append(logits.argmax().item())
    return text
