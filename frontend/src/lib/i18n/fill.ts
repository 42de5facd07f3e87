/**
 * Replaces {0}, {1} and so on in a sentence with arguments. {0、} is for a list, whose commas become those
 * between words in Chinese.
 */
export const fill = (sentence: string, args: readonly string[] = []): string =>
  sentence.replace(/\{(\d)(、?)\}/g, (_, index: string, comma: string) => {
    const arg = args[Number(index)] ?? ''
    return comma ? arg.replaceAll(', ', comma) : arg
  })
