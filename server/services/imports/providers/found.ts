/** A domain as a provider describes it. A field that the provider does not show is null. */
export type FoundDomain = {
  name: string;
  /** The host of the return path, in full. */
  returnPathHost: string | null;
  /** The label of the tracking host below the domain. */
  trackingLabel: string | null;
  openTracking: boolean | null;
  clickTracking: boolean | null;
  isTlsRequired: boolean | null;
  /** Settings that Backstamp does not have, in words. */
  notMapped: string[];
  /** Why it is not a domain to send from. */
  exclusion: string | null;
  /** It only adds to a domain that another document lists. */
  isDetail: boolean;
};

/** A domain with only these fields. */
export const foundDomain = (name: string, fields: Partial<FoundDomain> = {}): FoundDomain => ({
  name,
  returnPathHost: null,
  trackingLabel: null,
  openTracking: null,
  clickTracking: null,
  isTlsRequired: null,
  notMapped: [],
  exclusion: null,
  isDetail: false,
  ...fields,
});

/** A template as a provider describes it. */
export type FoundTemplate = {
  /** The provider's id of it. */
  id: string;
  name: string;
  /** The name or id that sends use at the provider. */
  alias: string | null;
  subject: string | null;
  html: string | null;
  text: string | null;
  sender: string | null;
  replyTo: string[];
  /** Declared fallbacks by variable. */
  fallbacks: Record<string, string | number>;
  isPublished: boolean;
  /** The alias of the layout around its content. */
  layout: string | null;
  /** It is a layout itself, and no template to send. */
  isLayout: boolean;
};

/** A template with only these fields. */
export const foundTemplate = (
  fields: Pick<FoundTemplate, "id" | "name"> & Partial<FoundTemplate>,
): FoundTemplate => ({
  alias: null,
  subject: null,
  html: null,
  text: null,
  sender: null,
  replyTo: [],
  fallbacks: {},
  isPublished: true,
  layout: null,
  isLayout: false,
  ...fields,
});
