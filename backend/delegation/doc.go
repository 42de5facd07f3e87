// Package delegation starts and drives the agents of sessions: it is what the tools of package
// subagent act through (LOOP-48, K-05).
//
// Agents are sessions. They form a tree below the session of a person, its root, which every one
// of them names as its parent; By names the agent that started it, if it was not the root. So what
// belongs to a tree is one query, and a stop of the root reaches all of it.
//
// The tree has limits that are shared: how deep it may be, how many of its agents work at a time,
// and what they may take of rounds, tokens and dollars together. An agent that waits for one of
// its own does not work meanwhile, so that a full tree cannot wait for itself. Before a request
// its estimated cost is put aside, so that agents that ask at the same time do not spend the same
// rest of a budget.
//
// Of agents that begin alike, the later ones are held back until the first was answered: their
// requests then begin with what the provider has in its cache.
package delegation
