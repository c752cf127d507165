import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addressBucket } from "#server/platform/limits/address-bucket";

const socket = "198.51.100.7";

function forwarded(list: string, trustedHops: number, others: Record<string, string> = {}): string {
  return addressBucket(new Headers({ "X-Forwarded-For": list, ...others }), socket, trustedHops);
}

describe("the address bucket of a request without a key", () => {
  test("without trusted proxies it is the socket address, independent of headers", () => {
    const claims = {
      "x-forwarded-for": "203.0.113.1",
      forwarded: "for=203.0.113.2",
      "x-real-ip": "203.0.113.3",
      "x-client-ip": "203.0.113.4",
      "cf-connecting-ip": "203.0.113.5",
      "true-client-ip": "203.0.113.6",
    };
    expect(addressBucket(new Headers(claims), socket, 0)).toBe("address:198.51.100.7");
  });

  test.each([
    ["one proxy, one entry", "203.0.113.9", 1, "203.0.113.9"],
    ["one proxy, an entry made up by the client", "1.1.1.1, 203.0.113.9", 1, "203.0.113.9"],
    [
      "one proxy, a long list made up by the client",
      `${"1.1.1.1,".repeat(2000)}203.0.113.9`,
      1,
      "203.0.113.9",
    ],
    ["two proxies", "1.1.1.1, 203.0.113.9, 10.0.0.1", 2, "203.0.113.9"],
    ["three proxies", "1.1.1.1,203.0.113.9,10.0.0.2,10.0.0.1", 3, "203.0.113.9"],
    ["blanks and tabs around", "1.1.1.1 ,\t 203.0.113.9 \t", 1, "203.0.113.9"],
    ["empty entries made up by the client", ",,,1.1.1.1,,203.0.113.9", 1, "203.0.113.9"],
    ["a port", "203.0.113.9:51234", 1, "203.0.113.9"],
    ["brackets", "[2001:db8:1:2::9]", 1, "2001:db8:1:2::/64"],
    ["brackets and a port", "[2001:db8:1:2::9]:443", 1, "2001:db8:1:2::/64"],
    ["a zone", "fe80::1%eth0", 1, "fe80:0:0:0::/64"],
  ])(
    "behind trusted proxies it is the entry of the outermost trusted proxy: %s",
    (_, list, hops, expected) => {
      expect(forwarded(list, hops)).toBe(`address:${expected}`);
    },
  );

  test("several header lines count as one list, in their order", () => {
    const headers = new Headers();
    headers.append("X-Forwarded-For", "1.1.1.1");
    headers.append("x-forwarded-for", "203.0.113.9");
    expect(addressBucket(headers, socket, 1)).toBe("address:203.0.113.9");
  });

  test("other headers have no effect behind proxies", () => {
    const others = { forwarded: "for=1.1.1.1", "x-real-ip": "1.1.1.1", "x-forwarded-host": "1.1.1.1" };
    expect(forwarded("203.0.113.9", 1, others)).toBe("address:203.0.113.9");
  });

  test.each([
    ["fewer entries than proxies", "203.0.113.9", 2],
    ["no entry", "", 1],
    ["only commas", ",,,", 2],
    ["an empty last entry", "203.0.113.9,", 1],
    ["a name", "unknown", 1],
    ["an obfuscated name", "_hidden", 1],
    ["a number out of range", "203.0.113.256", 1],
    ["an octal form", "0203.0.113.9", 1],
    ["a single number", "3405803785", 1],
    ["a hexadecimal form", "0xcb007109", 1],
    ["two addresses without a comma", "203.0.113.9 1.1.1.1", 1],
    ["another header in the value", "203.0.113.9; for=1.1.1.1", 1],
    ["a port without an address", ":443", 1],
    ["open brackets", "[2001:db8::1", 1],
    ["a bad IPv6 address", "2001:db8::1::2", 1],
    ["a very long value", "9".repeat(100_000), 1],
  ])("an invalid forwarded address is replaced by the socket address: %s", (_, list, hops) => {
    expect(forwarded(list, hops)).toBe("address:198.51.100.7");
  });

  test("without any address there is one bucket for all", () => {
    expect(addressBucket(new Headers(), undefined, 0)).toBe("address:unknown");
    expect(addressBucket(new Headers(), "", 1)).toBe("address:unknown");
  });

  test("an IPv4 address has one bucket in all its IPv6-mapped forms", () => {
    for (const form of [
      "203.0.113.9",
      "::ffff:203.0.113.9",
      "::FFFF:cb00:7109",
      "0:0:0:0:0:ffff:cb00:7109",
      "0000:0000:0000:0000:0000:ffff:203.0.113.9",
    ]) {
      expect(addressBucket(new Headers(), form, 0)).toBe("address:203.0.113.9");
    }
  });

  test("a thousand IPv6 addresses of one /64 share one bucket, those of its neighbour another", () => {
    const bucketsOf = (network: string) => {
      const hosts = Array.from(
        { length: 1000 },
        (_, host) => `${(host * 61).toString(16)}::${host.toString(16)}`,
      );
      return new Set(hosts.map((host) => addressBucket(new Headers(), `${network}:${host}`, 0)));
    };
    expect(bucketsOf("2001:db8:1:2")).toEqual(new Set(["address:2001:db8:1:2::/64"]));
    expect(bucketsOf("2001:db8:1:3")).toEqual(new Set(["address:2001:db8:1:3::/64"]));
  });

  test("all notations of an IPv6 address have the same bucket", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 }), (groups) => {
        const long = groups.map((group) => group.toString(16).padStart(4, "0").toUpperCase()).join(":");
        const short = new URL(`http://[${long}]`).hostname;
        const expected = `address:${groups
          .slice(0, 4)
          .map((group) => group.toString(16))
          .join(":")}::/64`;
        expect(addressBucket(new Headers(), long, 0)).toBe(expected);
        expect(forwarded(short, 1)).toBe(expected);
      }),
    );
  });

  const mark = fc.constantFrom(..."0123456789abcdef.:[]%,; ");
  test("no header value makes it throw or return anything but an address", () => {
    fc.assert(
      fc.property(fc.string({ unit: mark }), fc.integer({ min: 0, max: 5 }), (list, hops) => {
        const headers = new Headers({ "X-Forwarded-For": list });
        expect(addressBucket(headers, socket, hops)).toMatch(/^address:(\d+\.\d+\.\d+\.\d+|[0-9a-f:]+\/64)$/);
      }),
    );
  });
});
