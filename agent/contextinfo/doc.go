// Package contextinfo says what fills a model's context window: by kind and segment,
// item by item, with what each took so far, and what the provider's prompt cache holds
// (COM-94). Hosts show it to people; programs call [Breakdown], [Log.Info] and [Log.Usage].
//
// A [Log] folds the log of a session. Sizes are the provider's own count where there is
// one, scaled by estimates; [ContextBreakdown] has the margin.
package contextinfo
