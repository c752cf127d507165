import PostalMime from "postal-mime";
import { beforeEach, describe, expect, test } from "vitest";
import { formatDkimRecord } from "#server/mail/dkim/key";
import { findDomain } from "#server/services/domains/read";
import { hasDkimVerifier, verifyDkim } from "../support/dkim-verifier";
import { HTML, openTrackingWorld, TARGET } from "../support/tracking-world";

const tracking = await openTrackingWorld();
beforeEach(() => {
  tracking.peer.messages.length = 0;
  tracking.dropMessages(false);
});

describe("the sent message", () => {
  test("is unchanged if the domain has no tracking", async () => {
    const { html, bytes } = await tracking.deliver({
      from: "ann@plain.example",
      to: ["a@example.net", "b@example.net"],
    });
    expect(html.trim()).toBe(HTML.trim());
    expect(bytes.toString()).not.toContain("/api/");
    expect(tracking.peer.messages).toHaveLength(1);
  });

  test("has its own links and pixel for each recipient, and the text of the caller's html", async () => {
    await tracking.deliver({ to: ["a@example.net", "b@example.net"] });
    expect(tracking.peer.messages).toHaveLength(2);
    const seen = new Set<string>();
    for (const { bytes, to } of tracking.peer.messages) {
      expect(to).toHaveLength(1);
      const { html = "", text = "" } = await PostalMime.parse(bytes);
      const [, link = ""] =
        /<a href="(https:\/\/mail\.example\.com\/api\/clicks\/[\w-]+)">shop/.exec(html) ?? [];
      const [image = ""] = /<img [^>]*>/.exec(html) ?? [];
      expect(html.replace(image, "").replace(link, TARGET.replace("&", "&amp;")).trim()).toBe(HTML.trim());
      expect(image).toContain("https://mail.example.com/api/opens/");
      expect(text).toContain(TARGET);
      expect(text).not.toContain("/api/");
      seen.add(link).add(image);
    }
    expect(seen.size).toBe(4);
  });

  test("of a domain with only open tracking keeps its links", async () => {
    const { html } = await tracking.deliver({ from: "ann@opens.example" });
    expect(html.replace(/<img src="[^"]+\/api\/opens\/[^>]*>/, "").trim()).toBe(HTML.trim());
    expect(html).toContain("/api/opens/");
  });

  test("keeps the URL of the caller's List-Unsubscribe, and plain text unchanged", async () => {
    const headers = {
      "List-Unsubscribe": "<mailto:off@tracked.example>, <https://example.com/shop?a=1&b=2>",
    };
    const { html } = await tracking.deliver({ headers });
    expect(html).toContain('href="https://example.com/shop?a=1&amp;b=2"');
    tracking.peer.messages.length = 0;
    const { text } = await tracking.deliver({ html: undefined, text: `See ${TARGET}` });
    expect(text.trim()).toBe(`See ${TARGET}`);
    expect(tracking.peer.messages[0]?.bytes.toString()).not.toContain("/api/");
  });

  test("is the same in all attempts, even if the domain's settings change in between, and is signed", async () => {
    tracking.dropMessages(true);
    await tracking.send({ from: "ann@changing.example" });
    await tracking.round();
    const domain = await findDomain(tracking.world.ctx, "changing.example");
    const body = { open_tracking: false, click_tracking: false };
    await tracking.world.api("PATCH", `/api/domains/${domain.id}`, { token: tracking.token, body });
    tracking.dropMessages(false);
    await tracking.world.elapse("30 minutes");
    await tracking.round();
    const [first, second] = tracking.peer.messages;
    expect(tracking.peer.messages).toHaveLength(2);
    expect(first?.bytes.toString()).toBe(second?.bytes.toString());
    expect((await PostalMime.parse(first?.bytes ?? "")).html).toContain("/api/opens/");
    const zone = Object.fromEntries(
      domain.dkimKeys.map((key) => [
        `${key.selector}._domainkey.${domain.name}`,
        formatDkimRecord(key.algorithm, key.publicKey),
      ]),
    );
    expect(first?.bytes.toString()).toMatch(/^DKIM-Signature:/im);
    if (hasDkimVerifier())
      expect((await verifyDkim([first?.bytes ?? Buffer.of()], zone)).flat()).toContain(true);
  });

  test("differs from the stored message, so viewing it in the console counts no open", async () => {
    const { id } = await tracking.deliver();
    const { body } = await tracking.world.api("GET", `/api/emails/${id}`, { token: tracking.token });
    expect(body.html).toBe(HTML);
    expect(await tracking.visitsOf(id)).toEqual([]);
  });
});
