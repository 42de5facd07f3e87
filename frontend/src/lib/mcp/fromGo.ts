/** What Go says about servers, in Chinese. */
export const findings: Record<string, string> = {}

export const happenings: Record<string, string> = {}
