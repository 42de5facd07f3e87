/** What Go says about skills, in Chinese, by the rule. */

export const titles: Record<string, string> = {}

export const messagesOf: Record<string, string> = {}

export const fixes: Record<string, string> = {}
