import { createStore } from "./store";

/** The time in ms between two checks whether the service responds again, and the timeout of one. */
const pauseMs = 2_000;
const timeoutMs = 5_000;

/** Resolves when a lost connection is back. Null while the service responds. */
let lost: Promise<void> | null = null;
let endLost = () => {};
let timer: ReturnType<typeof setTimeout> | undefined;
let checking: Promise<boolean> | null = null;
const isLost = createStore(false);

/** Whether the connection to the service is lost. */
export const useIsConnectionLost = isLost.use;

function setConnected(isConnected: boolean): void {
  clearTimeout(timer);
  if (!isConnected) timer = setTimeout(() => void checkConnection(), pauseMs);
  if (isConnected === (lost === null)) return;
  if (isConnected) {
    lost = null;
    endLost();
  } else
    lost = new Promise((resolve) => {
      endLost = resolve;
    });
  isLost.set(!isConnected);
}

/**
 * Whether the service responds. If it does not, the connection counts as lost until it does, which is checked
 * every two seconds. For calls that did not reach the service: one of them alone proves nothing.
 */
export function checkConnection(): Promise<boolean> {
  checking ??= fetch("/api/health", { cache: "no-store", signal: AbortSignal.timeout(timeoutMs) })
    .then(
      ({ ok }) => ok,
      () => false,
    )
    .then((isConnected) => {
      checking = null;
      setConnected(isConnected);
      return isConnected;
    });
  return checking;
}

/** Resolves as soon as the service responds. */
export const whenConnected = async (): Promise<void> => {
  if (lost || !(await checkConnection())) await lost;
};

/** The last page that was to be loaded. Without a connection, a later click replaces it. */
let wanted = "";

/**
 * Opens a page with a full page load. It waits for the connection: without one, the browser would replace
 * this page, and what was typed on it, with a page of its own.
 */
export async function loadPage(path: string): Promise<void> {
  wanted = path;
  await whenConnected();
  if (wanted === path) window.location.assign(path);
}

/** Follows what the browser says about its network. Returns what ends it. */
export function watchNetwork(): () => void {
  const listening = new AbortController();
  const { signal } = listening;
  window.addEventListener("offline", () => setConnected(false), { signal });
  window.addEventListener("online", () => void checkConnection(), { signal });
  return () => listening.abort();
}
