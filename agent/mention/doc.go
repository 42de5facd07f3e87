// Package mention reads the files that a text mentions as "@path", and puts what is in
// them behind the text, so that a model need not read them first.
//
// A file that models may not read without a question, such as one outside the project, stays a
// word; of one that is not text only that is reported. Files of a message that waits are read when
// it is sent.
package mention
