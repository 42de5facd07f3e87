// Package search finds texts in the logs of all sessions: what people and models
// wrote, what tools were given and what they printed.
//
// The index is a database of its own in the home folder, [File]. It is derived from
// the logs and nothing else, so it is never written in the transaction that appends
// an event. It remembers how far it has read each log, and reads on when no more
// events follow and before it answers. An index that is missing, damaged or of
// another version is rebuilt. Several processes may use it at once.
//
// A text is indexed by its sequences of three characters, so that parts of words,
// code and languages without spaces are found; what they suggest is then compared
// with the text itself. Case does not count. Of a long text the first and the last
// 32 KB are read. See [Parse] for what a person can type.
//
// One goroutine reads on in the logs, once they have been quiet for three seconds and before a
// search answers, which waits 200 ms for it and then says how many sessions are still being read. A
// text's id begins with the time of its event, so that the newest comes first and a day is a range
// of ids. FTS5 is given quoted sequences only, so nothing that a person types is syntax. A word
// after a hyphen, such as -rf, is looked for if it is an option in any text (options.go), else it
// is excluded, and the reply says which. The same event in a fork is shown once, in the origin, as
// long as that is not deleted.
package search
