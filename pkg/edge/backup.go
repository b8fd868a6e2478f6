package edge

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"guidon/pkg/access"
	"guidon/pkg/answers"
	"guidon/pkg/jsonbody"
)

// The backup folder has a file for each upstream token, named after its hash, and tokens.json. A file begins with the SHA-256 of the
// rest. Beside it is the one before it, which is used if the file is damaged. No file has the secret of a token.

const (
	tokensFile = "tokens.json"
	older      = ".old"

	// backupInterval is how often the tokens, and the time at which the flags were current, are written.
	backupInterval = time.Minute
)

// A backup writes the backup folder. Its zero value writes nothing.
type backup struct {
	edge   *Edge
	folder string
	wake   chan struct{}
	mu     sync.Mutex
	dirty  map[*source]bool
}

// A stateDocument is a state in the folder.
type stateDocument struct {
	Environment string                  `json:"environment"`
	Projects    []string                `json:"projects"`
	Epoch       string                  `json:"epoch"`
	Number      int64                   `json:"number"`
	Tag         string                  `json:"tag"`
	At          time.Time               `json:"at"` // when the upstream last said that it is current
	Features    []feature               `json:"features"`
	Segments    []answers.ClientSegment `json:"segments"`
}

// A tokensDocument has the tokens in the folder.
type tokensDocument struct {
	Tokens    []tokenDocument      `json:"tokens"`
	Confirmed map[string]time.Time `json:"confirmed"` // by the hash of the upstream token: when its flags were last current
}

type tokenDocument struct {
	Hash        string           `json:"hash"`
	Type        access.TokenType `json:"type"`
	Environment string           `json:"environment"`
	Projects    []string         `json:"projects"`
	Checked     int64            `json:"checked"` // Unix seconds
}

// open reads the folder. What cannot be read is left out: the upstream has it.
func (b *backup) open(e *Edge) error {
	*b = backup{edge: e, folder: e.config.BackupFolder, wake: make(chan struct{}, 1), dirty: map[*source]bool{}}
	if b.folder == "" {
		return nil
	}
	if err := os.MkdirAll(b.folder, 0o700); err != nil {
		return fmt.Errorf("BACKUP_FOLDER: %w", err)
	}
	var tokens tokensDocument
	b.read(tokensFile, func(text []byte) error { return json.Unmarshal(text, &tokens) })
	for _, t := range tokens.Tokens {
		h, err := hex.DecodeString(t.Hash)
		ago := max(time.Since(time.Unix(t.Checked, 0)), 0)
		if err != nil || len(h) != sha256.Size || ago > e.config.KeepTokens {
			continue
		}
		g := newGrant("", t.Type, t.Projects, t.Environment)
		g.identify(hash(h))
		g.secret.Store(nil)
		g.confirm(ago)
		if e.tokens.known[g.hash] == nil {
			e.tokens.known[g.hash] = g
		}
		own := slices.ContainsFunc(e.sources, func(s *source) bool { return s.hash == g.hash })
		if !own && !e.config.Strict && t.Type == access.ClientToken { // its flags may be there too
			s := e.newSource("", t.Environment, t.Projects)
			s.hash = g.hash
			if b.restore(s, tokens.Confirmed); s.restored != nil {
				s.useRestored()
				e.sources = append(e.sources, s)
			}
		}
	}
	for _, s := range e.sources {
		if s.restored == nil {
			b.restore(s, tokens.Confirmed)
		}
	}
	return nil
}

// restore reads the state of a source.
func (b *backup) restore(s *source, confirmed map[string]time.Time) {
	name := hex.EncodeToString(s.hash[:])
	b.read(name, func(text []byte) error {
		var document stateDocument
		if err := json.Unmarshal(text, &document); err != nil {
			return err
		}
		r := newReading(reading{epoch: document.Epoch, number: document.Number, numbered: true, tag: document.Tag, complete: true})
		for _, f := range document.Features {
			if err := r.addFlag(jsonbody.Item[feature]{Value: f}); err != nil {
				return err
			}
		}
		for _, segment := range document.Segments {
			r.segments[segment.ID] = &segment
		}
		restored, err := r.after(nil, s.environment)
		if err != nil || document.Environment != s.environment {
			return cmp.Or(err, errors.New("it is of another environment"))
		}
		if s.projects.Load() == nil {
			s.projects.Store(&document.Projects)
		}
		s.restored, s.restoredAt = restored, document.At
		if at := confirmed[name]; at.After(document.At) {
			s.restoredAt = at
		}
		return nil
	})
}

// read reads a file with use, or the one before it if it is damaged.
func (b *backup) read(name string, use func([]byte) error) {
	for _, file := range []string{name, name + older} {
		err := func() error {
			raw, err := os.ReadFile(filepath.Join(b.folder, file)) //nolint:gosec // G304: the operator names the folder
			if err != nil {
				return err
			}
			sum, text, _ := bytes.Cut(jsonbody.WithoutMark(raw), []byte("\n"))
			if is := sha256.Sum256(text); hex.EncodeToString(is[:]) != string(sum) {
				return errors.New("it is damaged")
			}
			return use(text)
		}()
		if err == nil {
			return
		}
		if !errors.Is(err, os.ErrNotExist) {
			b.edge.logger.Warn("a file of BACKUP_FOLDER cannot be used", "file", file, "cause", err.Error())
		}
	}
}

// write replaces a file, and keeps the one before it.
func (b *backup) write(name string, document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	file, err := os.CreateTemp(b.folder, name+".*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // fails once it was renamed
	_, err = file.Write(append([]byte(hex.EncodeToString(sum[:])+"\n"), text...))
	if err == nil {
		err = file.Sync()
	}
	if err = cmp.Or(err, file.Close()); err != nil {
		return err
	}
	path := filepath.Join(b.folder, name)
	if err := os.Rename(path, path+older); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Rename(file.Name(), path)
}

// remove deletes the state of a source whose token is no longer valid.
func (b *backup) remove(s *source) {
	if b.folder != "" {
		path := filepath.Join(b.folder, hex.EncodeToString(s.hash[:]))
		_, _ = os.Remove(path), os.Remove(path+older) // it is not read without its token
	}
}

// changed notes that a source has a new state.
func (b *backup) changed(s *source) {
	if b.folder == "" {
		return
	}
	b.mu.Lock()
	b.dirty[s] = true
	b.mu.Unlock()
	signal(b.wake)
}

// run writes states soon after they change, and the tokens every minute, until the context ends.
func (b *backup) run(ctx context.Context) {
	if b.folder == "" {
		return
	}
	tick := time.NewTicker(backupInterval)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			b.save(true)
		case <-b.wake:
			b.save(false)
			sleep(ctx, time.Second) // many changes are written together
		}
	}
	b.save(true)
}

// save writes the states that changed. With tokens or a changed state, it writes the tokens too.
func (b *backup) save(tokens bool) {
	b.mu.Lock()
	dirty := b.dirty
	b.dirty = map[*source]bool{}
	b.mu.Unlock()
	for s := range dirty {
		now, at := s.state.Load(), s.confirmed.Load()
		if s.dropped.Load() || now == nil || at == nil {
			continue
		}
		if err := b.write(hex.EncodeToString(s.hash[:]), s.document(now, *at)); err != nil {
			b.edge.warn("backup", "the flags cannot be written to BACKUP_FOLDER; Edge keeps serving", err)
			b.mu.Lock()
			b.dirty[s] = true // try again in a minute
			b.mu.Unlock()
		}
	}
	if tokens || len(dirty) > 0 {
		if err := b.write(tokensFile, b.edge.tokensDocument()); err != nil {
			b.edge.warn("backup", "the tokens cannot be written to BACKUP_FOLDER; Edge keeps serving", err)
		}
	}
}

func (s *source) document(now *state, at time.Time) stateDocument {
	document := stateDocument{
		Environment: s.environment, Epoch: now.revision.Epoch, Number: now.revision.Number, Tag: now.tag, At: at.UTC(),
		Features: []feature{}, Segments: []answers.ClientSegment{},
	}
	if projects := s.projects.Load(); projects != nil {
		document.Projects = *projects
	}
	if len(now.odd) > 0 {
		document.Tag = "" // so that Edge, maybe a newer one, reads everything again after a restart
	}
	for _, f := range now.flags {
		document.Features = append(document.Features, stored(*f))
	}
	for _, segment := range now.segments {
		document.Segments = append(document.Segments, segment.ClientSegment)
	}
	return document
}

func (e *Edge) tokensDocument() tokensDocument {
	document := tokensDocument{Tokens: []tokenDocument{}, Confirmed: map[string]time.Time{}}
	for _, s := range e.all() {
		if at := s.confirmed.Load(); at != nil {
			document.Confirmed[hex.EncodeToString(s.hash[:])] = at.UTC()
		}
	}
	e.tokens.mu.Lock()
	defer e.tokens.mu.Unlock()
	for _, g := range e.tokens.known {
		if !g.fixed {
			document.Tokens = append(document.Tokens, tokenDocument{hex.EncodeToString(g.hash[:]), g.kind, g.environment, g.projects, g.checked.Load().Unix()})
		}
	}
	return document
}
