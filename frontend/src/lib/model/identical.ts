/** Which of the requests that wait are the same question, asked by several sessions. */
import type { Approval, ApprovalRequest } from '../types.gen'

/** What two identical requests have in common: everything that a person decides about. */
const essence = ({ tool, input, access, changes, outlook, rule, each_time }: ApprovalRequest) =>
  JSON.stringify([tool, input, access, changes, outlook, rule, each_time])

/** The others that ask the same, the oldest first. */
export function identical(all: readonly Approval[], request: ApprovalRequest): Approval[] {
  const wanted = essence(request)
  return all.filter((each) => each.request.id !== request.id && essence(each.request) === wanted)
}
