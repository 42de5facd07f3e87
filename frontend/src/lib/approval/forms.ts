/** What the user is filling in before an answer: why it is denied, or a rule that allows or denies. */
export type Form = 'feedback' | 'allow' | 'deny'
