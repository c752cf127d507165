import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** Faults that a test can give the authenticator. */
export type PasskeyFault = {
  origin?: string;
  rpId?: string;
  challenge?: string;
  isVerified?: boolean;
  counter?: number;
  type?: string;
};

type Asked = { challenge: string };

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest();
const cborBytes = (bytes: Buffer) =>
  Buffer.concat([Buffer.from([0x59, bytes.length >> 8, bytes.length & 255]), bytes]);
const cborText = (text: string) => Buffer.concat([Buffer.from([0x60 | text.length]), Buffer.from(text)]);

/** An ES256 key as COSE (RFC 9053): { 1: 2, 3: -7, -1: 1, -2: x, -3: y }. */
function coseKey(key: KeyObject): Buffer {
  const { x = "", y = "" } = key.export({ format: "jwk" });
  const half = (text: string) => Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(text, "base64url")]);
  return Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    half(x),
    Buffer.from([0x22]),
    half(y),
  ]);
}

/**
 * A software authenticator with one ES256 passkey and a signature counter. It responds in the JSON format of
 * browsers.
 */
export function createPasskeyDevice(page: { origin: string; rpId: string }) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const id = randomBytes(16);
  const place = { id: id.toString("base64url"), rawId: id.toString("base64url"), type: "public-key" };
  let counted = 0;

  const clientData = (type: string, asked: Asked, wrong: PasskeyFault) =>
    Buffer.from(
      JSON.stringify({
        type: wrong.type ?? type,
        challenge: wrong.challenge ?? asked.challenge,
        origin: wrong.origin ?? page.origin,
        crossOrigin: false,
      }),
    );
  const authData = (flags: number, wrong: PasskeyFault, more: Buffer = Buffer.alloc(0)) => {
    counted = wrong.counter ?? counted + 1;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(counted);
    const shown = flags | 0x01 | (wrong.isVerified === false ? 0 : 0x04);
    return Buffer.concat([sha256(wrong.rpId ?? page.rpId), Buffer.from([shown]), counter, more]);
  };

  return {
    id: place.id,
    /** The response of `navigator.credentials.create`, as JSON. */
    make(asked: Asked, wrong: PasskeyFault = {}): string {
      const data = authData(
        0x40,
        wrong,
        Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, coseKey(publicKey)]),
      );
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        cborText("fmt"),
        cborText("none"),
        cborText("attStmt"),
        Buffer.from([0xa0]),
        cborText("authData"),
        cborBytes(data),
      ]);
      return JSON.stringify({
        ...place,
        response: {
          clientDataJSON: clientData("webauthn.create", asked, wrong).toString("base64url"),
          attestationObject: attestationObject.toString("base64url"),
          transports: ["internal"],
        },
        clientExtensionResults: {},
      });
    },
    /** The response of `navigator.credentials.get`, as JSON. */
    use(asked: Asked, wrong: PasskeyFault = {}): string {
      const client = clientData("webauthn.get", asked, wrong);
      const data = authData(0, wrong);
      const signature = sign("sha256", Buffer.concat([data, sha256(client)]), privateKey);
      return JSON.stringify({
        ...place,
        response: {
          clientDataJSON: client.toString("base64url"),
          authenticatorData: data.toString("base64url"),
          signature: signature.toString("base64url"),
        },
        clientExtensionResults: {},
      });
    },
  };
}

export type PasskeyDevice = ReturnType<typeof createPasskeyDevice>;
