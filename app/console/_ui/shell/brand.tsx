/** The name and its logo: a postmark with its cancellation lines. */
export const Brand = () => (
  <span className="inline-flex items-center gap-2.5 font-semibold text-base tracking-tight">
    <svg viewBox="0 0 24 24" className="size-6" aria-hidden="true">
      <title>Backstamp</title>
      <rect width="24" height="24" rx="6" className="fill-accent" />
      <g className="fill-none stroke-on-accent" strokeLinecap="round">
        <circle cx="9.5" cy="12" r="5.6" strokeWidth="1.8" />
        <path d="M7.4 12h4.2" strokeWidth="1.8" />
        <path d="M17.6 8.6q1.2-1 2.4 0M17.6 12q1.2-1 2.4 0M17.6 15.4q1.2-1 2.4 0" strokeWidth="1.5" />
      </g>
    </svg>
    Backstamp
  </span>
);
