// Package redact finds secrets in what would leave this machine, and takes them out.
// It cannot know every secret, so a person reviews what it found. All its patterns
// take time in proportion to the text.
//
// The log is read once to learn the secrets: forms of keys, values given to names of secrets, keys
// that we keep. The second time each is taken out wherever it stands, also in the arguments of
// calls, which stay JSON.
package redact
