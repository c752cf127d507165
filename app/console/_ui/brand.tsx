/** The name and its horn. */
export function Brand() {
  return (
    <span className="inline-flex items-center gap-2 font-semibold text-base tracking-tight">
      <svg viewBox="0 0 24 24" className="size-6 text-accent" aria-hidden="true">
        <title>Posthorn</title>
        <g fill="none" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" strokeLinejoin="round">
          <circle cx="11" cy="12" r="5.2" />
          <path d="M2 9.2h8.8M2 8v2.4M11 17.2h5.4l4.6 3.3v-9.8l-4.8 3" />
        </g>
      </svg>
      Posthorn
    </span>
  );
}
