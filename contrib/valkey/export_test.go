package valkey

// Cut makes s behave as if its process had died: it renews and releases nothing.
func (s *Server) Cut() {
	s.stop()
	s.lost.Store(true)
}
