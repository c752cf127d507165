import { createPublicKey, generateKeyPairSync, randomBytes, sign, X509Certificate } from "node:crypto";

/** A key and its certificate, both PEM. A self-signed certificate also serves as the trusted root. */
export type Certificate = { key: string; cert: string };

const OID = {
  commonName: [0x55, 0x04, 0x03],
  subjectAltName: [0x55, 0x1d, 0x11],
  basicConstraints: [0x55, 0x1d, 0x13],
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
} as const;

const DAY_MS = 86_400_000;

export type CertificateOptions = {
  names?: string[];
  validFrom?: Date;
  validTo?: Date;
  /** The issuer. Default: self-signed. */
  issuer?: Certificate;
  /** Whether the key is RSA, which requires an issuer. Default: P-256. */
  isRsa?: boolean;
};

/** Creates a new certificate (RFC 5280) for host names and IPv4 addresses. */
export function makeCertificate(options: CertificateOptions = {}): Certificate {
  const names = options.names ?? ["localhost", "127.0.0.1"];
  const altNames = der(0x30, ...names.map(altName));
  return issue(names[0] ?? "", extension(OID.subjectAltName, altNames), options);
}

/**
 * Creates a self-signed authority that issues certificates. Its own certificate is the only root to trust.
 */
export function makeAuthority(name: string): Certificate {
  const isAuthority = der(0x30, der(0x01, Buffer.from([0xff])));
  return issue(name, extension(OID.basicConstraints, isAuthority, true), {});
}

function issue(commonName: string, extensions: Buffer, options: CertificateOptions): Certificate {
  const validFrom = options.validFrom ?? new Date(Date.now() - DAY_MS);
  const validTo = options.validTo ?? new Date(Date.now() + 30 * DAY_MS);
  const { privateKey } = options.isRsa
    ? generateKeyPairSync("rsa", { modulusLength: 2048 })
    : generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = der(0x30, der(0x06, Buffer.from(OID.ecdsaWithSha256)));
  const { issuer } = options;
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    nameOf(issuer ? new X509Certificate(issuer.cert).subject.replace(/^CN=/, "") : commonName),
    der(0x30, utcTime(validFrom), utcTime(validTo)),
    nameOf(commonName),
    createPublicKey(privateKey).export({ type: "spki", format: "der" }),
    der(0xa3, der(0x30, extensions)),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", body, issuer?.key ?? privateKey));
  const cert = der(0x30, body, algorithm, signature).toString("base64").replace(/.{64}/g, "$&\n");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${cert.trimEnd()}\n-----END CERTIFICATE-----\n`,
  };
}

/** A distinguished name with only a common name. */
function nameOf(commonName: string): Buffer {
  const value = der(0x30, der(0x06, Buffer.from(OID.commonName)), der(0x0c, Buffer.from(commonName)));
  return der(0x30, der(0x31, value));
}

function extension(id: readonly number[], value: Buffer, isCritical = false): Buffer {
  const critical = isCritical ? der(0x01, Buffer.from([0xff])) : Buffer.of();
  return der(0x30, der(0x06, Buffer.from(id)), critical, der(0x04, value));
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
