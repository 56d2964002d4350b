// The first thirty seconds, as data for tour.js: a race won, one round taken apart, a race not won, a question.

export const FIRST = [
  { id: "race", trace: "hero", beats: [{ at: "start", play: true, speed: 0.5, hold: 1.5 }] },
  {
    id: "round",
    trace: "code",
    beats: [
      { at: "telling", scene: "guess", hold: 2.4 },
      { scene: "pass", hold: 2.4 },
      { scene: "keep", hold: 5 },
    ],
  },
  { id: "foil", trace: "foil", beats: [{ at: "start", play: true, speed: 0.5, hold: 5 }] },
  { id: "question", trace: "code", beats: [{ at: "end", scene: "question" }] },
];
