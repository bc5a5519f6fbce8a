import assert from "node:assert/strict";
import fc from "fast-check";
import { Pace } from "./pace.ts";

/** Time that stands still until it is told to go on. */
class Clock {
  #now = 0;
  #timer: { readonly at: number; readonly run: () => void } | undefined;

  now(): number {
    return this.#now;
  }

  setTimer(run: () => void, milliseconds: number): () => void {
    assert.equal(this.#timer, undefined, "there is one timer at a time");
    const timer = this.#timer = { at: this.#now + milliseconds, run };
    return () => {
      if (this.#timer === timer) this.#timer = undefined;
    };
  }

  goOn(milliseconds: number): void {
    const end = this.#now + milliseconds;
    while (this.#timer !== undefined && this.#timer.at <= end) {
      const { at, run } = this.#timer;
      this.#timer = undefined;
      this.#now = at;
      run();
    }
    this.#now = end;
  }
}

/** A pace, and what it has passed on. */
class Stage {
  readonly clock = new Clock();
  readonly passed: string[] = [];
  readonly pace = new Pace(() => {
    const text = this.#waiting.splice(0).join("");
    if (text !== "") this.passed.push(text);
  }, this.clock);
  readonly #waiting: string[] = [];

  say(text: string): void {
    this.#waiting.push(text);
    this.pace.heard();
  }
}

Deno.test("the first piece passes at once, later ones together and 32 ms apart", () => {
  const { pace, passed, clock, say } = bound(new Stage());
  say("Hello, this is the first. ");
  assert.deepEqual(passed, ["Hello, this is the first. "]);
  for (const word of ["two ", "three ", "four "]) {
    say(word);
    clock.goOn(10);
  }
  clock.goOn(1);
  assert.equal(passed.length, 1);
  clock.goOn(1);
  assert.deepEqual(passed.slice(1), ["two three four "]);
  clock.goOn(1_000);
  say("five");
  assert.deepEqual(passed.slice(2), ["five"]);
  pace[Symbol.dispose]();
});

Deno.test("a flush ends the wait", () => {
  const { pace, passed, clock, say } = bound(new Stage());
  say("one ");
  say("two");
  assert.deepEqual(passed, ["one "]);
  pace.flush();
  assert.deepEqual(passed, ["one ", "two"]);
  clock.goOn(100);
  assert.equal(passed.length, 2);
});

Deno.test("whatever comes and when: all of it passes, in order, 32 ms apart but for flushes", () => {
  const step = fc.record({
    text: fc.string({ minLength: 1, maxLength: 6 }),
    wait: fc.constantFrom(0, 0, 1, 31, 32, 100),
    flush: fc.boolean(),
  });
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const { pace, passed, clock, say } = bound(new Stage());
    let flushes = 0;
    for (const { text, wait, flush } of steps) {
      say(text);
      clock.goOn(wait);
      if (flush) pace.flush();
      flushes += flush ? 1 : 0;
    }
    pace.flush();
    assert.equal(passed.join(""), steps.map(({ text }) => text).join(""));
    const time = steps.reduce((all, { wait }) => all + wait, 0);
    assert.ok(passed.length <= 2 + 2 * flushes + time / 32);
  }));
});

function bound(stage: Stage) {
  const { pace, passed, clock } = stage;
  return { pace, passed, clock, say: (text: string) => stage.say(text) };
}
