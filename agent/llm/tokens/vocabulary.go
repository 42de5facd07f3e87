package tokens

import (
	_ "embed" // the vocabularies
	"encoding/binary"
	"sync"
)

// The vocabularies of OpenAI's tokenizers, as ranks_test.go writes them: how many
// tokens there are of each length, all tokens in the order of their lengths and
// bytes, and their ranks in the same order. They are searched as they stand in the
// program. A map of them would take 12 ms to make and several megabytes to keep,
// and each start of a session counts its list of skills.
var (
	//go:embed cl100k.ranks
	cl100kRanks string
	//go:embed o200k.ranks
	o200kRanks string
)

var (
	cl100k = sync.OnceValue(func() *vocabulary { return newVocabulary(cl100kRanks, pieceOfCl100k) })
	o200k  = sync.OnceValue(func() *vocabulary { return newVocabulary(o200kRanks, pieceOfO200k) })
)

// sizeOfRank is how many bytes a rank has.
const sizeOfRank = 3

// none is the rank of what is not a token.
const none = 1<<32 - 1

// vocabulary is one tokenizer: the tokens that there are, and the pieces into which
// it cuts a text before it looks for them.
type vocabulary struct {
	rows  []rows // by length
	piece func(text string) int
}

// rows are the tokens of one length, in order.
type rows struct {
	tokens, ranks string
	count         int
}

func newVocabulary(data string, piece func(string) int) *vocabulary {
	number := func() int {
		n := binary.LittleEndian.Uint32([]byte(data[:4]))
		data = data[4:]
		return int(n)
	}
	v := &vocabulary{piece: piece, rows: make([]rows, 1+number())}
	for length := 1; length < len(v.rows); length++ {
		v.rows[length].count = number()
	}
	for length := range v.rows {
		r := &v.rows[length]
		r.tokens, data = data[:r.count*length], data[r.count*length:]
	}
	for length := range v.rows {
		r := &v.rows[length]
		r.ranks, data = data[:r.count*sizeOfRank], data[r.count*sizeOfRank:]
	}
	return v
}

// rank returns the rank of a token, or none. Pairs of lower rank are joined first.
func (v *vocabulary) rank(token string) uint32 {
	length := len(token)
	if length >= len(v.rows) {
		return none
	}
	r := &v.rows[length]
	from, to := 0, r.count
	for from < to {
		middle := int(uint(from+to) / 2)
		switch at := r.tokens[middle*length : (middle+1)*length]; {
		case at == token:
			b := r.ranks[middle*sizeOfRank:]
			return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		case at < token:
			from = middle + 1
		default:
			to = middle
		}
	}
	return none
}

// longestPiece limits what is joined at a time, in bytes: the work grows with the
// square of a piece. A text without spaces may count a few tokens more for it.
const longestPiece = 256

// count returns the number of tokens of a text.
func (v *vocabulary) count(text string) int {
	total := 0
	var ends [longestPiece + 1]part
	for len(text) > 0 {
		piece := text[:min(v.piece(text), longestPiece)]
		text = text[len(piece):]
		if v.rank(piece) != none {
			total++
		} else {
			total += v.join(piece, ends[:len(piece)+1])
		}
	}
	return total
}

// part begins at a byte of a piece, and has the rank of what it would be together
// with the next one.
type part struct {
	start int
	rank  uint32
}

// join joins the bytes of a piece to tokens: again and again the first pair that has
// the lowest rank. It returns how many tokens are left. There is one part more than
// the piece has bytes, which marks its end.
func (v *vocabulary) join(piece string, parts []part) int {
	pair := func(i int) uint32 {
		if i+2 >= len(parts) {
			return none
		}
		return v.rank(piece[parts[i].start:parts[i+2].start])
	}
	for i := range parts {
		parts[i].start = i
	}
	for i := range parts {
		parts[i].rank = pair(i)
	}
	for {
		lowest := 0
		for i := range parts {
			if parts[i].rank < parts[lowest].rank {
				lowest = i
			}
		}
		if parts[lowest].rank == none {
			return len(parts) - 1
		}
		parts = append(parts[:lowest+1], parts[lowest+2:]...)
		parts[lowest].rank = pair(lowest)
		if lowest > 0 {
			parts[lowest-1].rank = pair(lowest - 1)
		}
	}
}
