/** Replaces {0}, {1} and so on in a sentence with arguments. */
export const fill = (sentence: string, args: readonly string[] = []): string =>
  sentence.replace(/\{(\d)\}/g, (_, index: string) => args[Number(index)] ?? '')
