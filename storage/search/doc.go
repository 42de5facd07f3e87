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
package search
