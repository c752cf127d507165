import { createPublicKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** A TLS key and its certificate, both PEM. The certificate signs itself, so it also serves as the root to trust. */
export type Certificate = { key: string; cert: string };

const OID = {
  commonName: [0x55, 0x04, 0x03],
  subjectAltName: [0x55, 0x1d, 0x11],
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
} as const;

const DAY_MS = 86_400_000;

/** Makes a self-signed P-256 certificate (RFC 5280) for host names and IPv4 addresses. It is made anew on each call. */
export function makeCertificate(
  options: { names?: string[]; validFrom?: Date; validTo?: Date } = {},
): Certificate {
  const names = options.names ?? ["localhost", "127.0.0.1"];
  const validFrom = options.validFrom ?? new Date(Date.now() - DAY_MS);
  const validTo = options.validTo ?? new Date(Date.now() + 30 * DAY_MS);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = der(0x30, der(0x06, Buffer.from(OID.ecdsaWithSha256)));
  const commonName = der(
    0x30,
    der(0x06, Buffer.from(OID.commonName)),
    der(0x0c, Buffer.from(names[0] ?? "")),
  );
  const name = der(0x30, der(0x31, commonName));
  const altNames = der(0x30, ...names.map(altName));
  const extension = der(0x30, der(0x06, Buffer.from(OID.subjectAltName)), der(0x04, altNames));
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    name,
    der(0x30, utcTime(validFrom), utcTime(validTo)),
    name,
    createPublicKey(privateKey).export({ type: "spki", format: "der" }),
    der(0xa3, der(0x30, extension)),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", body, privateKey));
  const cert = der(0x30, body, algorithm, signature).toString("base64").replace(/.{64}/g, "$&\n");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${cert.trimEnd()}\n-----END CERTIFICATE-----\n`,
  };
}

function altName(name: string): Buffer {
  const isAddress = /^[0-9.]+$/.test(name);
  return isAddress ? der(0x87, Buffer.from(name.split(".").map(Number))) : der(0x82, Buffer.from(name));
}

function utcTime(date: Date): Buffer {
  return der(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replace(/[-T:]/g, "")}Z`));
}

/** One DER value: tag, definite length, content. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const size = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
