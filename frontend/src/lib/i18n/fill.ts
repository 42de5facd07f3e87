/** Puts arguments in the places of a sentence that are marked {0}, {1} and so on. */
export const fill = (sentence: string, args: readonly string[] = []): string =>
  sentence.replace(/\{(\d)\}/g, (_, index: string) => args[Number(index)] ?? '')
