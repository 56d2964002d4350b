// The parts of the page by name, for one that leads through the others: they are put in place in any order.

const there = new Map();
const waiting = new Map();

/** Says that a part is in place, and gives it back. */
export function inPlace(name, made) {
  there.set(name, made);
  waiting.get(name)?.forEach((react) => react(made));
  waiting.delete(name);
  return made;
}

/** The part of that name, or null. */
export function part(name) {
  return there.get(name) ?? null;
}

/** A promise of the part of that name. */
export function whenThere(name) {
  return new Promise((react) => {
    if (there.has(name)) react(there.get(name));
    else waiting.set(name, [...(waiting.get(name) ?? []), react]);
  });
}
