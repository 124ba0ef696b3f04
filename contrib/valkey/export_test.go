package valkey

// Cut makes s silent, as the death of its process would: nothing is renewed, and nothing is given back.
func (s *Server) Cut() {
	s.stop()
	s.lost.Store(true)
}
