import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import { useEffect, useState } from "react";
import { SCOPES, type Scope } from "#server/shared/scopes";
import { useCan } from "../_ui/team";

/** The page of the API reference that receives a key, with the random part of the name of its channel. */
export type Receiver = { page: string; nonce: string };
export type TestKeyRequest = { scope: Scope; receiver: Receiver | null };

const parameters = {
  test: parseAsStringLiteral(SCOPES),
  page: parseAsString.withDefault(""),
  nonce: parseAsString.withDefault(""),
};

/**
 * The test key that a link of the API reference requests, until it is closed. The parameters are removed from
 * the URL at once, so the back button does not request the key again. Null for users who cannot create keys.
 */
export function useTestKey(): [TestKeyRequest | null, close: () => void] {
  const can = useCan();
  const [request, setRequest] = useState<TestKeyRequest | null>(null);
  const [{ test, page, nonce }, setParameters] = useQueryStates(parameters);
  useEffect(() => {
    if (test === null) return;
    setRequest({ scope: test, receiver: receiverOf(page, nonce) });
    void setParameters(null);
  }, [test, page, nonce, setParameters]);
  return [can("keys:write") ? request : null, () => setRequest(null)];
}

/** The page is shown to the user, so it has to be one of the reference. */
const receiverOf = (page: string, nonce: string): Receiver | null =>
  /^\/docs\/api\/[a-z-]+$/.test(page) && /^[0-9a-f]{32}$/.test(nonce) ? { page, nonce } : null;

/** Passes a new key to its receiver. Returns true once the receiver has confirmed it. */
export function usePassKey(receiver: Receiver | null, token: string): boolean {
  const [isReceived, setReceived] = useState(false);
  useEffect(() => {
    if (receiver === null) return;
    const channel = new BroadcastChannel(`test-key ${receiver.page} ${receiver.nonce}`);
    channel.addEventListener("message", ({ data }) => {
      if (data?.isReceived === true) setReceived(true);
    });
    channel.postMessage({ token });
    return () => channel.close();
  }, [receiver, token]);
  return isReceived;
}
