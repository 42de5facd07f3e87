// Package schedule has the tools with which a model has prompts run later: at a time, again and
// again, or when it wants to be woken (OAS-323 to OAS-325, OAS-333, K-19). Whoever implements
// [Store] keeps the tasks and runs them.
//
// Times are those of the machine's clock on the wall. A task with a fixed hour runs once a day, also
// when clocks change: one that falls into the hour that is left out runs after it, and one in the
// hour that comes twice runs in the first. A task of every hour or minute goes by the time that
// passes.
package schedule
