import fc from "fast-check";
import { expect, test } from "vitest";
import { addTracking } from "#server/mail/mime/tracked-html";
import { anyText } from "../support/any-text";

const linkFor = (target: string) => `https://t.example/${Buffer.from(target).toString("base64url")}`;
const pixel = "https://t.example/p";
const IMAGE = '<img src="https://t.example/p" width="1" height="1" alt="" style="border:0">';
const links = (html: string) => addTracking(html, { linkFor, pixel: null });
const to = (target: string) => linkFor(target);

const CHANGED: [what: string, html: string, changed: string][] = [
  ["a plain link", '<a href="https://a.example/x">x</a>', `<a href="${to("https://a.example/x")}">x</a>`],
  ["single quotes", "<a href='https://a.example/x'>", `<a href='${to("https://a.example/x")}'>`],
  ["no quotes", "<a href=https://a.example/x class=b>", `<a href="${to("https://a.example/x")}" class=b>`],
  ["no quotes at the end", "<a href=https://a.example/x>", `<a href="${to("https://a.example/x")}">`],
  [
    "spaces and lines",
    '<A\n HREF = \n"https://a.example/x"\t>',
    `<A\n HREF = \n"${to("https://a.example/x")}"\t>`,
  ],
  ["entities", '<a href="https://a.example/?a=1&amp;b=2">', `<a href="${to("https://a.example/?a=1&b=2")}">`],
  [
    "a value that begins with one",
    '<a href="&#104;ttps://a.example/x">',
    `<a href="${to("https://a.example/x")}">`,
  ],
  [
    "what only looks like one",
    '<a href="https://a.example/?a=1&copy=2">',
    `<a href="${to("https://a.example/?a=1&copy=2")}">`,
  ],
  ["an area of a map", '<area href="http://a.example/">', `<area href="${to("http://a.example/")}">`],
  ["a bare host", '<a href="http://a.example">', `<a href="${to("http://a.example/")}">`],
  [
    "letters beyond ASCII",
    '<a href="https://ä.example/ö?ü">',
    `<a href="${to("https://xn--4ca.example/%C3%B6?%C3%BC")}">`,
  ],
  ["white space around", '<a href=" https://a.example/x\n">', `<a href="${to("https://a.example/x")}">`],
  [
    "the first of two",
    '<a href="https://a.example/1" href="https://a.example/2">',
    `<a href="${to("https://a.example/1")}" href="https://a.example/2">`,
  ],
  [
    "a greater-than inside",
    '<a title="a > b" href="https://a.example/x">',
    `<a title="a > b" href="${to("https://a.example/x")}">`,
  ],
  [
    "a title that ends early",
    '<title><a href="https://a.example/1"></title><a href="https://a.example/2">',
    `<title><a href="https://a.example/1"></title><a href="${to("https://a.example/2")}">`,
  ],
];
test.each(CHANGED)("in %s only the value of href changes", (_, html, changed) => {
  expect(links(html)).toBe(changed);
});

const LEFT: [what: string, html: string][] = [
  ["mail", '<a href="mailto:a@example.com">'],
  ["a telephone", '<a href="tel:+4930">'],
  ["a script", '<a href="javascript:alert(1)">'],
  ["data", '<a href="data:text/html,x">'],
  ["a place in the mail", '<a href="#top">'],
  ["a relative one", '<a href="/x">'],
  ["one without a scheme", '<a href="//a.example/x">'],
  ["one that is none", '<a href="https://">'],
  ["nothing", '<a href="">'],
  ["no value", "<a href>"],
  [
    "no link",
    '<img src="https://a.example/x"><link href="https://a.example/x"><div href="https://a.example/x">',
  ],
  [
    "another attribute",
    '<a data-href="https://a.example/x" title="https://a.example/x">https://a.example/x</a>',
  ],
  [
    "a comment",
    '<!-- <a href="https://a.example/x"> --><!--[if mso]><a href="https://a.example/x"><![endif]-->',
  ],
  ["a script's text", '<script>"<a href=\\"https://a.example/x\\">"</script>'],
  ["a style's text", '<style>/* <a href="https://a.example/x"> */</style>'],
  ["a tag that never ends", '<a href="https://a.example/x"'],
  ["unsubscribing", '<a href="https://a.example/unsubscribe?u=1"><a href="https://a.example/Opt-Out">'],
  ["our opt-out", '<a data-backstamp-track="off" href="https://a.example/x">'],
  ["SendGrid's", '<a href="https://a.example/x" clicktracking=off>'],
  ["Amazon SES's", '<a ses:no-track href="https://a.example/x">'],
  ["Postmark's", '<a data-pm-no-track href="https://a.example/x">'],
  ["Mailgun's", '<a disable-tracking="true" href="https://a.example/x">'],
  ["a very long one", `<a href="https://a.example/${"x".repeat(1_500)}">`],
];
test.each(LEFT)("%s is unchanged", (_, html) => {
  expect(links(html)).toBe(html);
});

test.each([
  ["<html><body><p>x</p></body></html>", `<html><body><p>x</p>${IMAGE}</body></html>`],
  ["<p>x</p></BODY ></html>\n", `<p>x</p>${IMAGE}</BODY ></html>\n`],
  ["<html><p>x</p></html>", `<html><p>x</p>${IMAGE}</html>`],
  ["<p>x</p>", `<p>x</p>${IMAGE}`],
  ["<!-- </body> --><p>x</p>", `<!-- </body> --><p>x</p>${IMAGE}`],
  ["", IMAGE],
])("the pixel is inserted before the end of %j", (html, changed) => {
  expect(addTracking(html, { linkFor: null, pixel })).toBe(changed);
});

test("links and pixel together, including a link after the end", () => {
  const html = '<a href="https://a.example/1"></a></body><a href="https://a.example/2"></a>';
  expect(addTracking(html, { linkFor, pixel })).toBe(
    `<a href="${to("https://a.example/1")}"></a>${IMAGE}</body><a href="${to("https://a.example/2")}"></a>`,
  );
});

test("for any HTML, removing the inserted parts restores it exactly", () => {
  const piece = fc.constantFrom(
    '<a href="https://a.example/?q=1&amp;r=2">',
    "<a href='http://b.example/x y'>",
    "</a>",
    "<!--",
    "-->",
    "<style>",
    "</style>",
    "</body>",
    "</html>",
    "<b title='>'",
    ">",
    '"',
    "&amp;",
    "😀",
    "text",
  );
  const html = fc.array(fc.oneof(piece, anyText(8))).map((parts) => parts.join(""));
  fc.assert(
    fc.property(html, (given) => {
      const ours = new Map([
        ["\uE000T\uE000", '"https://a.example/?q=1&amp;r=2"'],
        ["\uE000U\uE000", "'http://b.example/x y'"],
      ]);
      fc.pre(!given.includes("\uE000"));
      const changed = addTracking(given, {
        linkFor: (target) =>
          target === "https://a.example/?q=1&r=2"
            ? "\uE000T\uE000"
            : target === "http://b.example/x%20y"
              ? "\uE000U\uE000"
              : null,
        pixel: "\uE000P",
      });
      let back = changed.replace(/<img src="\uE000P"[^>]*>/, "");
      for (const [mark, value] of ours) {
        const quote = value.charAt(0);
        back = back.replaceAll(`${quote}${mark}${quote}`, value);
      }
      expect(back).toBe(given);
    }),
    { numRuns: 500 },
  );
});

test("time is linear in the length, also without any end tags", () => {
  const html = '<a href="https://a.example/x"><b><i>'.repeat(20_000);
  expect(addTracking(html, { linkFor: () => null, pixel: null })).toBe(html);
});
