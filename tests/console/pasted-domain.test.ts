import { expect, test } from "vitest";
import { domainIn, pastedDomain } from "../../app/console/domains/labels";

test.each([
  ["mail.example.com", "mail.example.com"],
  [" mail.example.com ", "mail.example.com"],
  ["www.example.com", "www.example.com"],
  ["https://www.example.com/shop?x=1", "example.com"],
  ["http://mail.example.com:8080", "mail.example.com"],
  ["example.com/contact", "example.com"],
  ["example.com:443", "example.com"],
  ["ann@example.com", "example.com"],
  ["Ann <ann@example.com>", "example.com"],
  ["not a domain", "not a domain"],
  ["https://", "https://"],
  ["", ""],
])("%j is read as %j", (text, domain) => {
  expect(domainIn(text)).toBe(domain);
});

test.each([
  ["https://www.example.com/shop", "example.com"],
  ["Ann <ann@example.com>", "example.com"],
  ["mail.", null],
  ["example.com", null],
  ["example.com:443", null],
])("a paste of %j replaces the field by %j", (text, domain) => {
  expect(pastedDomain(text)).toBe(domain);
});
