// Package undo takes the changes of steps out of the files again, and brings them
// back. Each file is merged three ways: what somebody changed since is never
// overwritten, and where both changed the same lines, the file stays as it is.
//
// What is to be done is planned first ([Folder.Plan]), so that it can be shown. It is
// then prepared ([Folder.Prepare]): its contents are kept, and the result says of each
// file what it will be. A host that stores this result before it carries it out
// ([Folder.Carry]) can find out after a crash what was done ([Folder.Recover]). A
// restoration is recorded like a step, and so can be undone like one.
//
// Each file that was shown has a seal, and nothing is written if one of them has changed. The steps
// that are undone follow from the logs of the session and of its agents ([History]). On Linux a
// file exchanges names with the one that it replaces, which is compared again before it is removed,
// and gets its name back if somebody saved it meanwhile. Elsewhere another program has some
// microseconds in which a change of it is lost.
package undo
