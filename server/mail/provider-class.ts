/**
 * The large mailbox providers and mail filters, by the domains of their addresses and of their MX hosts.
 * Names below a listed domain belong to it, too.
 */
const PROVIDERS = {
  gmail: ["gmail.com", "googlemail.com", "google.com"],
  microsoft: [
    "outlook.com",
    "hotmail.com",
    "hotmail.co.uk",
    "hotmail.de",
    "hotmail.fr",
    "hotmail.it",
    "hotmail.es",
    "live.com",
    "live.co.uk",
    "live.fr",
    "msn.com",
    "passport.com",
    "mx.microsoft",
  ],
  yahoo: [
    "yahoo.com",
    "yahoo.co.uk",
    "yahoo.fr",
    "yahoo.de",
    "yahoo.it",
    "yahoo.es",
    "yahoo.co.in",
    "yahoo.com.br",
    "ymail.com",
    "rocketmail.com",
    "aol.com",
    "yahoodns.net",
  ],
  apple: ["icloud.com", "me.com", "mac.com", "apple.com"],
  gmx: ["gmx.de", "gmx.net", "gmx.at", "gmx.ch", "gmx.com", "web.de", "mail.com"],
  ionos: ["kundenserver.de", "ionos.com", "ionos.de", "1and1.com"],
  telekom: ["t-online.de", "magenta.de"],
  orange: ["orange.fr", "wanadoo.fr"],
  free: ["free.fr"],
  libero: ["libero.it", "virgilio.it"],
  comcast: ["comcast.net"],
  mailru: ["mail.ru", "bk.ru", "list.ru", "inbox.ru"],
  yandex: ["yandex.ru", "yandex.com", "ya.ru", "yandex.net"],
  qq: ["qq.com", "foxmail.com"],
  netease: ["163.com", "126.com", "yeah.net", "netease.com"],
  proton: ["proton.me", "protonmail.com", "protonmail.ch", "pm.me"],
  zoho: ["zoho.com", "zoho.eu", "zohomail.com"],
  fastmail: ["fastmail.com", "messagingengine.com"],
  ovh: ["ovh.net", "ovh.com"],
  proofpoint: ["pphosted.com", "ppe-hosted.com", "gpphosted.com"],
  mimecast: ["mimecast.com", "mimecast.co.za"],
  barracuda: ["barracudanetworks.com"],
  cisco: ["iphmx.com"],
  test: ["backstamp.test"],
} as const satisfies Record<string, readonly string[]>;

/** A large provider, or `other`. The number of classes is fixed, so they can label metrics. */
export type ProviderClass = keyof typeof PROVIDERS | "other";

export const PROVIDER_CLASSES = [...Object.keys(PROVIDERS), "other"] as readonly ProviderClass[];

/** The providers that metrics count separately. All others are `other`. */
export const COUNTED_PROVIDERS = ["gmail", "microsoft", "yahoo", "apple"] as const satisfies ProviderClass[];
export type CountedProvider = (typeof COUNTED_PROVIDERS)[number] | "other";

/** The counted providers by their domains, to which the names below them belong, too. */
export const COUNTED_DOMAINS: Readonly<Record<string, CountedProvider>> = Object.fromEntries(
  COUNTED_PROVIDERS.flatMap((provider) => PROVIDERS[provider].map((domain) => [domain, provider] as const)),
);

const BY_DOMAIN: ReadonlyMap<string, ProviderClass> = new Map(
  Object.entries(PROVIDERS).flatMap(([provider, domains]) =>
    domains.map((domain) => [domain, provider as ProviderClass] as const),
  ),
);

/**
 * The provider that receives email for a recipient's domain: by the domain, then by the MX host, which is
 * null if it is unknown. Both in lower case.
 */
export function classifyProvider(domain: string, mxHost: string | null): ProviderClass {
  return findProvider(domain) ?? (mxHost === null ? undefined : findProvider(mxHost)) ?? "other";
}

/** The counted provider of an MX host, if the recipient's domain does not show it. */
export const findProviderOfHost = (domain: string, mxHost: string | null): CountedProvider | null =>
  findProvider(domain) === undefined ? countedOrNull(classifyProvider(domain, mxHost)) : null;

/** The counted provider of an address, by its domain. */
export const findProviderOfAddress = (address: string): CountedProvider | null =>
  countedOrNull(classifyProvider(address.slice(address.lastIndexOf("@") + 1).toLowerCase(), null));

const countedOrNull = (provider: ProviderClass): CountedProvider | null =>
  COUNTED_PROVIDERS.find((counted) => counted === provider) ?? null;

/** Looks up the name and each of its parents. A name has at most 127 labels. */
function findProvider(name: string): ProviderClass | undefined {
  for (let rest = name; rest !== ""; rest = rest.slice(rest.indexOf(".") + 1)) {
    const provider = BY_DOMAIN.get(rest);
    if (provider !== undefined || !rest.includes(".")) return provider;
  }
  return undefined;
}
