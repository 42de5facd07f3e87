// Package transfer lets sessions leave as files, and makes sessions of the files of other
// programs. What leaves is read once to learn its secrets, and a second time without
// them. What comes in is a stranger's: it is read within limits, and nothing of it acts.
package transfer
