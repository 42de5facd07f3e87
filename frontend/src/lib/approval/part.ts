import { Lazy } from '../ui/lazy.svelte'

/** The form of a rule, which is loaded apart from the first screen. */
export const ruleForm = new Lazy(() => import('./RuleForm.svelte').then((module) => module.default))
