/** The calls that are questions to the user, with the form in which each is answered. */
import type { Component } from 'svelte'
import { questionsOf } from '../model/question'
import type { Answer, ApprovalRequest } from '../types.gen'
import { Lazy } from '../ui/lazy.svelte'
import { own } from './messages'

export type FormProps = {
  request: ApprovalRequest
  /** The session that asks. */
  session: string
  /** Whether an answer is on its way. */
  sent: boolean
  onanswer: (answer: Answer) => void
  /** Reports whether a press counts, or was meant for what stood here before. */
  takes: () => boolean
}

/** What a form may export. */
export type FormView = {
  /** Takes a key that was pressed on the question itself; true if it means something. */
  press?(event: KeyboardEvent): boolean
}

type AskedForm = {
  form: Lazy<Component<FormProps, FormView>>
  heading: (request: ApprovalRequest) => string
  /** It needs more of the window than other questions. */
  tall?: true
}

const lazy = (load: () => Promise<{ default: Component<FormProps, FormView> }>) =>
  new Lazy(() => load().then((module) => module.default))

const forms: Record<string, AskedForm> = {
  AskUser: {
    form: lazy(() => import('./QuestionForm.svelte')),
    heading: ({ input }) => own('question', { n: questionsOf(input).length }),
    tall: true,
  },
  EnterPlanMode: {
    form: lazy(() => import('./PlanFirstForm.svelte')),
    heading: () => own('plan_first'),
  },
  ExitPlanMode: {
    form: lazy(() => import('./PlanForm.svelte')),
    heading: () => own('plan'),
    tall: true,
  },
}

/** The form of a question; undefined for a call that asks for permission. */
export const formOf = (tool: string): AskedForm | undefined =>
  Object.hasOwn(forms, tool) ? forms[tool] : undefined

export const askedForms = Object.values(forms).map(({ form }) => form)
