/** The loading state, with the layout of the page. */
export default function EmailLoading() {
  const bar = "rounded bg-mute-tint motion-safe:animate-pulse";
  return (
    <div aria-busy="true">
      <span className="sr-only" role="status">
        Loading
      </span>
      <div className={`${bar} mb-5 h-4 w-20`} />
      <div className={`${bar} mb-3 h-7 w-2/3`} />
      <div className={`${bar} mb-8 h-4 w-1/2`} />
      <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_24rem]">
        <div className={`${bar} h-[40rem]`} />
        <div className={`${bar} h-80`} />
      </div>
    </div>
  );
}
