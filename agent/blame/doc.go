// Package blame tells which recorded step wrote each line of a file.
//
// It follows a file through its versions and compares each with the one before,
// line by line and byte by byte. A change between the end of one step and the
// beginning of the next has no recorded author.
//
// What an undo or a redo brings back has its old author again, and so has a version that comes back
// as a whole, as after a change of branches. Where versions were not kept, a line is marked as not
// certain, or as unknown. Sizes and numbers of steps are bounded.
package blame
