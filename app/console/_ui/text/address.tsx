/**
 * An address on one line: it moves to the next line as a whole, and breaks only where it is longer than a
 * line.
 */
export const Address = ({ children }: { children: string }) => (
  <span className="inline-block max-w-full break-words">{children}</span>
);

/** An address in a table or in a line of fixed height, shortened to its width. */
export const ShortAddress = ({ children }: { children: string }) => (
  <span className="block truncate" title={children}>
    {children}
  </span>
);

/** A text with its addresses on one line each, such as a reply of a mail server. */
export const AddressText = ({ children }: { children: string }) => {
  if (!children.includes("@")) return children;
  const words = children.split(" ");
  return words.map((word, place) => {
    const space = place < words.length - 1 ? " " : "";
    // A text does not change its order, so the place identifies the word.
    const key = `${place}`;
    return word.includes("@") ? (
      <span key={key}>
        <Address>{word}</Address>
        {space}
      </span>
    ) : (
      `${word}${space}`
    );
  });
};
