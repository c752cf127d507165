import { beforeEach, describe, expect, test } from "vitest";
import { BROWSER, openTrackingWorld, TARGET } from "../support/tracking-world";

const tracking = await openTrackingWorld();
beforeEach(() => {
  tracking.peer.messages.length = 0;
  tracking.dropMessages(false);
});

describe("an open", () => {
  test("is an event of its recipient; its image is not cached, and it changes the last event but no status", async () => {
    const { id, pixel } = await tracking.deliver();
    await tracking.later(id);
    const { status, headers, text } = await tracking.visit(pixel);
    expect({ status, type: headers["content-type"], cache: headers["cache-control"] }).toEqual({
      status: 200,
      type: "image/gif",
      cache: "no-store",
    });
    expect(headers["set-cookie"]).toBeUndefined();
    expect(text.startsWith("GIF89a")).toBe(true);
    expect(await tracking.visitsOf(id)).toEqual([
      {
        type: "email.opened",
        recipient: "ben@example.net",
        by: "reader",
        name: null,
        address: "127.0.0.1",
        agent: BROWSER,
      },
    ]);
    const { body } = await tracking.world.api("GET", `/api/emails/${id}`, { token: tracking.token });
    expect({ status: body.status, last: body.last_event }).toEqual({ status: "sent", last: "opened" });
  });

  test("is recorded once per hour, even with concurrent requests; HEAD is never recorded", async () => {
    const { id, pixel } = await tracking.deliver();
    await tracking.later(id);
    expect((await tracking.visit(pixel, BROWSER, "HEAD")).status).toBe(200);
    expect(await tracking.visitsOf(id)).toEqual([]);
    await Promise.all(Array.from({ length: 6 }, () => tracking.visit(pixel)));
    expect(await tracking.visitsOf(id)).toHaveLength(1);
    await tracking.later(id, "61 minutes");
    await tracking.visit(pixel);
    expect(await tracking.visitsOf(id)).toHaveLength(2);
  });

  test("is recorded at most a hundred times per delivery", async () => {
    const { id, pixel } = await tracking.deliver();
    await tracking.later(id);
    await tracking.visit(pixel);
    await tracking.world.hot`
      insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
      select gen_random_uuid(), team_id, email_id, delivery_id, type, recipient, data
      from email_events, generate_series(1, 99) where email_id = ${id} and type = 'email.opened'`;
    await tracking.later(id, "2 hours");
    await tracking.visit(pixel);
    expect(await tracking.visitsOf(id)).toHaveLength(100);
  });

  const PROGRAMS: [agent: string, by: string, name: string | null][] = [
    [
      "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
      "proxy",
      "Gmail image proxy",
    ],
    ["YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html", "proxy", "Yahoo Mail proxy"],
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0",
      "prefetch",
      "Gmail prefetch",
    ],
    ["Mozilla/5.0", "prefetch", "Apple Mail Privacy Protection"],
    ["BarracudaCentral/1.0", "scanner", "Mail filter"],
    ["curl/8.5.0", "scanner", "Program"],
    ["Mozilla/5.0 (compatible; Googlebot/2.1)", "scanner", "Program"],
    ["", "scanner", "Without a name"],
    [
      "Mozilla/5.0 (Linux; Android 9; CUBOT P20) AppleWebKit/537.36 Chrome/120.0 Mobile Safari/537.36",
      "reader",
      null,
    ],
  ];
  test("is classified by the user agent, and automated opens do not hide a reader's", async () => {
    const { id, pixel } = await tracking.deliver();
    await tracking.later(id);
    for (const [agent, by, name] of PROGRAMS) {
      await tracking.visit(pixel, agent);
      const visits = await tracking.visitsOf(id);
      expect(
        visits.some((each) => each.by === by),
        agent,
      ).toBe(true);
      expect(
        visits.filter((each) => each.by === by && each.agent === agent).every((each) => each.name === name),
      ).toBe(true);
    }
    expect((await tracking.visitsOf(id)).map(({ by }) => by)).toEqual([
      "proxy",
      "prefetch",
      "scanner",
      "reader",
    ]);
  });

  test("directly after sending is classified as a scanner, whatever its user agent", async () => {
    const { id, pixel } = await tracking.deliver();
    await tracking.world
      .hot`update email_events set created_at = now() where email_id = ${id} and type = 'email.sent'`;
    await tracking.visit(pixel);
    expect(await tracking.visitsOf(id)).toMatchObject([{ by: "scanner", name: "Right after delivery" }]);
  });
});

describe("a click", () => {
  test("redirects to the original URL, is an event with that link, and is sent to endpoints", async () => {
    const hook = { endpoint: "https://example.com/hooks", events: ["email.clicked"] };
    const { body: webhook } = await tracking.world.api("POST", "/api/webhooks", {
      token: tracking.token,
      body: hook,
    });
    const { id, click } = await tracking.deliver();
    await tracking.later(id);
    const { status, headers } = await tracking.visit(click);
    expect({ status, location: headers.location }).toEqual({ status: 302, location: TARGET });
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers["referrer-policy"]).toBe("no-referrer");
    expect(await tracking.visitsOf(id)).toMatchObject([
      { type: "email.clicked", link: TARGET, by: "reader" },
    ]);
    const rows = await tracking.world.hot`select type from webhook_deliveries where email_id = ${id}`;
    expect([...rows]).toEqual([{ type: "email.clicked" }]);
    await tracking.world.api("DELETE", `/api/webhooks/${webhook.id}`, { token: tracking.token });
  });

  test("redirects for HEAD and for a deleted email too, without an event", async () => {
    const { id, click } = await tracking.deliver();
    expect((await tracking.visit(click, BROWSER, "HEAD")).headers.location).toBe(TARGET);
    expect(await tracking.visitsOf(id)).toEqual([]);
    await tracking.world.hot`delete from emails where id = ${id}`;
    const before = await tracking.world.rowCounts();
    expect((await tracking.visit(click)).headers.location).toBe(TARGET);
    expect(await tracking.world.rowCounts()).toEqual(before);
  });

  test("that is forged, or has another target, does not redirect and creates no event", async () => {
    const { id, click, pixel } = await tracking.deliver();
    await tracking.later(id);
    const tokenOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
    const evil = Buffer.from("https://evil.example/").toString("base64url");
    const wrong = ["x", evil, encodeURIComponent("https://evil.example/"), `${tokenOf(click)}${evil}`];
    for (const path of [
      ...wrong.flatMap((token) => [`/api/clicks/${token}`, `/api/opens/${token}`]),
      `/api/clicks/${tokenOf(pixel)}`,
      `/api/opens/${tokenOf(click)}`,
    ]) {
      const { status, headers } = await tracking.visit(path);
      expect({ path, status, location: headers.location }).toEqual({ path, status: 404 });
    }
    const tails = [
      "//evil.example",
      "/https://evil.example",
      "%2f%2fevil.example",
      "@evil.example",
      "\\evil.example",
    ];
    for (const tail of tails)
      expect((await tracking.visit(`${click}${tail}`)).headers.location, tail).toBeUndefined();
    expect(await tracking.visitsOf(id)).toEqual([]);
  });

  test("with parameters and a slash that a program added is opened and clicked like the link itself", async () => {
    const { id, click, pixel } = await tracking.deliver();
    await tracking.later(id);
    for (const tail of ["?fbclid=1", "/", "/?utm_source=a&url=https://evil.example/", "?u=//evil.example"])
      expect((await tracking.visit(`${click}${tail}`)).headers.location, tail).toBe(TARGET);
    expect((await tracking.visit(`${pixel}?utm=1`)).status).toBe(200);
    expect((await tracking.visitsOf(id)).length).toBeGreaterThan(0);
  });

  test("with one team's token never becomes another team's event", async () => {
    const { id } = await tracking.deliver();
    const other = await tracking.world.otherTeam();
    const [row] = await tracking.world.hot<
      { id: string }[]
    >`select id from deliveries where email_id = ${id}`;
    const before = await tracking.world.rowCounts();
    const link = tracking.world.deps.recipientTokens.clickLink(
      { teamId: other.id, emailId: id, deliveryId: row?.id ?? "" },
      TARGET,
    );
    expect((await tracking.visit(new URL(link).pathname)).status).toBe(302);
    expect(await tracking.world.rowCounts()).toEqual(before);
  });
});

describe("the last event of an email", () => {
  /** The last event from the email and from the list, which must be equal. */
  async function lastEventOf(id: string): Promise<unknown> {
    const { token, world } = tracking;
    const one = await world.api("GET", `/api/emails/${id}`, { token });
    const list = await world.api("GET", "/api/emails?limit=100", { token });
    const row = (list.body.data as Record<string, unknown>[]).find((email) => email.id === id);
    expect([row?.last_event, row?.status]).toEqual([one.body.last_event, one.body.status]);
    return one.body.last_event;
  }

  test("is opened, then clicked; a filter or a prefetch does not count, a reader's image proxy does", async () => {
    const { id, pixel, click } = await tracking.deliver();
    await tracking.later(id);
    for (const agent of ["BarracudaCentral/1.0", "Mozilla/5.0"]) await tracking.visit(pixel, agent);
    await tracking.visit(click, "BarracudaCentral/1.0");
    expect(await tracking.visitsOf(id)).toHaveLength(3);
    expect(await lastEventOf(id)).toBe("sent");
    await tracking.visit(pixel, "Mozilla/5.0 Firefox/11.0 (via ggpht.com GoogleImageProxy)");
    expect(await lastEventOf(id)).toBe("opened");
    await tracking.visit(click);
    expect(await lastEventOf(id)).toBe("clicked");
    // Another open does not replace the click.
    await tracking.later(id, "2 hours");
    await tracking.visit(pixel);
    expect(await tracking.visitsOf(id)).toHaveLength(6);
    expect(await lastEventOf(id)).toBe("clicked");
  });

  test("of a recipient with a worse status takes precedence over one who opened the email", async () => {
    const { id, pixel } = await tracking.deliver({ to: ["ann@example.net", "ben@example.net"] });
    await tracking.later(id);
    await tracking.visit(pixel);
    const { hot } = tracking.world.deps;
    for (const [status, lastEvent] of [
      ["delivered", "opened"],
      ["unknown", "delivery_delayed"],
      ["bounced", "bounced"],
      ["complained", "complained"],
    ] as const) {
      await hot`
        update deliveries set status = ${status}, due_at = 'infinity'
        where email_id = ${id} and address = 'ben@example.net'`;
      await hot`update emails set status = ${status} where id = ${id}`;
      expect(await lastEventOf(id)).toBe(lastEvent);
    }
  });
});
