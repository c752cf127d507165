/** The name and its sign: a P whose stem ends in the bell of a horn. */
export function Brand() {
  return (
    <span className="inline-flex items-center gap-2.5 font-semibold text-base tracking-tight">
      <svg viewBox="0 0 24 24" className="size-6" aria-hidden="true">
        <title>Posthorn</title>
        <rect width="24" height="24" rx="6" className="fill-accent" />
        <g className="fill-none stroke-on-accent" strokeWidth="2" strokeLinecap="round">
          <path d="M9 15V8.8a3.9 3.9 0 1 1 3.9 3.9" />
        </g>
        <path d="M8 13.5h2c.2 2.6 1.3 4.2 3.4 5.4H4.6C6.7 17.7 7.8 16.1 8 13.5z" className="fill-on-accent" />
      </svg>
      Posthorn
    </span>
  );
}
