import { expect, test } from "vitest";
import { countAttempts, numberAttempts } from "../../app/console/emails/[id]/attempts";

type Made = Parameters<typeof numberAttempts>[0][number];

let nth = 0;
const event = (recipient: string | null, type: Made["type"], data: Made["data"] = {}): Made => ({
  id: `${type.slice("email.".length)} ${++nth}`,
  type,
  recipient,
  data,
});
const numbersOf = (events: Made[]) => {
  const numbers = numberAttempts(events);
  return events.map(({ id }) => numbers.get(id) ?? null);
};

const reason = "451 4.7.1 Try again later.";

test("attempts are numbered on after a retry on request, and the recipient has as many", () => {
  const events = [
    event(null, "email.queued"),
    event("ann@example.net", "email.delivery_delayed", { attempt: 1, reason }),
    event("ann@example.net", "email.delivery_delayed", { attempt: 2, reason }),
    event("ann@example.net", "email.failed", { attempt: 3, reason }),
    event("ann@example.net", "email.queued", { reason: "Retried on request." }),
    event("ann@example.net", "email.sent", { attempt: 1, reason: "250 OK" }),
    event("ann@example.net", "email.delivered", { attempt: 1 }),
  ];
  expect(numbersOf(events)).toEqual([null, 1, 2, 3, null, 4, null]);
  expect(countAttempts(events)).toEqual(new Map([["ann@example.net", 4]]));
});

test("each recipient has its own attempts, and a single one has no number", () => {
  const events = [
    event("ann@example.net", "email.bounced", { attempt: 1, reason: "550 5.1.1 No such user." }),
    event("joe@example.net", "email.delivery_delayed", { attempt: 1, reason }),
    event("joe@example.net", "email.sent", { attempt: 2, reason: "250 OK" }),
  ];
  expect(numbersOf(events)).toEqual([null, 1, 2]);
  expect(countAttempts(events)).toEqual(
    new Map([
      ["ann@example.net", 1],
      ["joe@example.net", 2],
    ]),
  );
});

test("a suppression is not counted as an attempt, because nothing was sent", () => {
  const suppressed = { attempt: 1, reason: "The address was added to the suppression list manually." };
  const only = [event("ann@example.net", "email.suppressed", suppressed)];
  expect(countAttempts(only)).toEqual(new Map());
  const retried = [
    event("ann@example.net", "email.bounced", { attempt: 1, reason: "550 5.1.1 No such user." }),
    event("ann@example.net", "email.suppressed", suppressed),
    event("ann@example.net", "email.sent", { attempt: 1, reason: "250 OK" }),
  ];
  expect(numbersOf(retried)).toEqual([1, null, 2]);
});
