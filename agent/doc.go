// Package agent runs the loop of a session: it asks a model, runs the tools
// that the model calls, and continues until the model makes no more calls.
//
// A [Session] is a library first. Its host provides a [Config] — a model,
// tools, a gate that decides about calls, an approver that asks a person — and
// ranges over [Session.Run]:
//
//	for event, err := range session.Run(ctx, "Fix the login bug.") {
//		// store durable events, show all of them
//	}
//
// Everything that happens is an [Event]. The durable events of a session, in
// order, are the session: [New] rebuilds a session from them, and a running
// session keeps its state by the same fold.
//
// Run works in the caller's goroutine and yields its events there. The
// documentation of [Session] says which methods other goroutines may call.
//
// # The log is the session
//
// A running session and a reopened one fold events with the same [Transcript], so the two cannot
// differ. After a crash the next opening finds the open turn. A turn that waited for a person keeps
// waiting, under the same request; any other turn is marked as interrupted. [Session.Close]
// suspends the first kind and interrupts the second.
//
// A turn is one input of the user, until the agent is at rest; a round is one model call and its
// tools; a draft is streamed and not stored. After a limit, a failure or an interrupt,
// [Session.Continue] resumes the turn where it stopped, with fresh limits. A session ends in order:
// its turn, the end hooks, its agents with their commands, its own commands (Config.CleanUp), and
// last session_end. When that event is in the log, no process of the session is left.
//
// # A round
//
// loop.go runs the rounds. ask.go lowers the context into an [llm.Request] and yields deltas as
// they arrive and the whole message at the end. If an answer breaks off, it is requested again
// ([llm.RetryPolicy] is the only retry policy), then from the fallback model; the partial answer is
// discarded and none of its calls run. An answer with nothing in it is asked for once more, and
// then the turn fails. A call that a model wrote as text, and nothing else, is run as a call
// (written.go).
//
// dispatch.go is the pipeline of a call, top to bottom: start, lookup, validation, gate and hooks,
// approval, execution, hooks again, reduction, end. Calls run in the order in which the model wrote
// them. Consecutive calls that may run in parallel do so, at most ten at a time; every other call
// runs alone. That a call began is stored before it runs, unless its repetition would do no harm,
// so that a kill forgets no effect.
//
// # Requests that a provider refuses
//
// repair.go changes a request before it is sent if it has pictures that the model does not accept,
// or is longer than the model's window: old outputs are shortened, then the longest texts lose
// their middle. After a refusal one repair after the other is tried, from the mildest on: malformed
// calls, a provider's own bytes, pictures, what no answer has seen, then more of what is before.
// Repairs are kept only once the provider has accepted the request, so a session can always go on.
// Each change is one event.
//
// window.go says in numbers if instructions and tools alone take most of a small window, tries no
// compaction that cannot help, and notices by the count of a request that a server cut it.
// budget.go checks before each request whether an estimate fits the session's budget, and after it
// whether the budget was exceeded. A cost is an integer in pico-dollars; an unknown cost is absent,
// never 0, and counted.
//
// # Compaction
//
// compact.go compacts between two requests (K-08): when the conversation reaches the setting's
// threshold, once after a provider refused a request for its length, and when a person asks
// ([Session.Compact], which is not a turn). Old tool results are cut first. If the conversation is
// then still above half of the threshold, a [Compactor] summarises the older part. The newest
// fifth, at most 20,000 tokens, stays verbatim, and so do the beginnings of the user's newest
// messages. Nothing changes before compaction_end is in the log. After three failures in a row it
// is not tried again. If it did not help, the turn ends with an error and the session stays open.
//
// # Who decides about a call
//
// The [Gate] decides first. [CanUseTool], the function of a program that uses the library, may then
// replace what the mode decided and nothing that is final; arguments that it changes are judged
// from the start. Hooks (fire.go) may deny, ask, allow or change the input, and may answer instead
// of the person. No hook lifts a Final verdict, what a person is asked about each time, or another
// hook's wish that a person is asked. Where nothing listens at a point ([SelectiveHook]), the point
// costs nothing.
//
// A prompt that a hook refuses stays in the log and is never sent: the turn ends as refused. A turn
// that a hook ends is stopped, and can be continued. Each call's end says what decided about it
// ([Authority]): the mode, a rule with its place, a hook, a callback or a person.
//
// An approval request has the effects of its call ([Foreteller], effect.go), and the risk follows
// from the gravest. The model's own description is Claim, which hosts show as a quotation. No rule
// answers what a hook asked about, or allows other changes than were shown. A call that no rule can
// allow in advance (Grounds.Final), or that is asked about each time (Grounds.EachTime), offers no
// such answer.
//
// # Tools
//
// A tool in a few lines is [Function]: the input struct gives the schema. What it depends on comes
// with the call ([Depends]); how models of each vendor know it stands beside it (Spec.Bindings).
// What a tool keeps from call to call is a part of its result (Details.Kept), so it is the same
// after a restart, a fork and a rewind. A call may itself be a [Question]: no rule, mode, hook or
// program answers for the person, and the reply reaches the tool alone. A freeform tool takes plain
// text: Responses shows it as a custom tool with its grammar, every other API with the single
// member input.
//
// Rules, the gate, events and limits know a tool by its canonical name. A model sees a table of
// [Binding]s. A call's name is looked up among the profile's names, then the specification's, then
// the canonical ones. After a change of model the new profile holds from the next request on; each
// earlier call is read by the profile of the model that made it.
//
// # Skills
//
// A skill in use is part of the log (skill.go). The input that a person began with /name, or the
// end of a call of Skill, says which skill is in use and what it allows. The transcript keeps them
// as a stack. Each call is compared with the innermost skill, or with every one of them if it
// changes something, before hooks and the gate see it; nothing lifts that. Below .claude/ the
// allowed tools are no limit, but answer what the mode would ask, once the file is trusted (K-46).
// UserInput.Typed is what was typed: it names the session, and is what is copied, edited and
// exported.
//
// # Messages during a turn
//
// They wait in [Queue]: steer reaches the model after the running tools; follow_up becomes the next
// input once the model, or the user's command, is done. After an interrupt or a failure they stay
// there. The user's own command ([Session.RunCommand]) is not a turn: it runs without an approval
// and without a request, occupies the session, and becomes an item of the conversation.
//
// # Forks and rewinds
//
// [FindCut] says where a log may be cut: before an input, after the results of an answer's calls,
// or after a number of messages. [Transcript.Sever] ends an open turn or call, so that every
// provider accepts the next request. session_forked names the origin; cost, lines and allowed calls
// before it count there. A rewind is an event as well (conversation_rewound, rewind.go): the log
// keeps what was taken back, and the fold leaves it out of the conversation, while costs, turn
// numbers, settings and titles stay.
//
// # Briefings
//
// A model is briefed once and then told about changes. The system prompt is an event, briefing,
// recorded before the first request; a reopened session sends the same one, so the beginning of its
// requests never changes. A later change, such as a document, the date, the branch or the mode, is
// an item at the end, briefing_update, which also brings the documents of a subfolder once a call
// touches it. Texts by others stand between tags, and [EscapeTags] removes imitations of them.
//
// breakdown.go folds the log again, outside the session's goroutine, and estimates what each kind
// of item takes; the parts are scaled to the provider's own count.
package agent
