import { describe, expect, test } from "vitest";
import { createAddressJudge } from "#server/platform/egress/address";

const judge = createAddressJudge([]);

/** Every notation and every kind of address that is not the public Internet. */
const BLOCKED = {
  loopback: ["127.0.0.1", "127.1", "127.255.255.254", "2130706433", "0x7f000001", "0177.0.0.1", "::1"],
  "this host": ["0.0.0.0", "0.1.2.3", "::"],
  private: ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1"],
  "link-local and metadata": ["169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%eth0", "168.63.129.16"],
  "carrier-grade NAT": ["100.64.0.1", "100.100.100.200", "100.127.255.255"],
  mapped: ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "0:0:0:0:0:ffff:a9fe:a9fe"],
  compatible: ["::127.0.0.1", "::10.0.0.1", "::a9fe:a9fe", "::8.8.8.8"],
  translated: ["64:ff9b::127.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::1", "::ffff:0:127.0.0.1"],
  tunnelled: ["2002:7f00:1::1", "2002:a00:1::", "2001:0:7f00:1::1", "2001::1"],
  "multicast and broadcast": ["224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1"],
  reserved: ["240.0.0.1", "192.0.0.1", "192.0.0.192", "192.88.99.1", "198.18.0.1", "198.19.255.255"],
  documentation: ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
  "other special blocks": [
    "100::1",
    "5f00::1",
    "fec0::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "4000::1",
  ],
  "no address": ["", "example.com", "1.2.3.4.5", "1.2.3.256", "::g", "127.0.0.1 "],
} as const;

describe("addresses that must not be called", () => {
  for (const [kind, addresses] of Object.entries(BLOCKED))
    test.each([...addresses])(`${kind}: %s is blocked`, (address) => {
      expect(judge(address)).toBe("blocked");
    });
});

test.each(["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "2606:4700::1111", "2a00:1450:4001::1"])(
  "%s is public",
  (address) => {
    expect(judge(address)).toBe("public");
  },
);

test("networks of the operator are allowed in every notation, and no others", () => {
  const open = createAddressJudge(["10.1.0.0/16", "fd00::/8", "127.0.0.2/32"]);
  for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "fd12::1", "127.0.0.2"])
    expect(open(address)).toBe("allowed");
  for (const address of ["10.2.0.1", "127.0.0.1", "fc00::1", "::10.1.2.3"])
    expect(open(address)).toBe("blocked");
  expect(open("8.8.8.8")).toBe("public");
});
