-- Looks into a token bucket, and takes tokens if there are as many, or gives it some.
-- KEYS: the bucket. ARGV: capacity, refill a second, "take", "peek" or "give", the time in microseconds since 1970, or ""
-- for that of the server, and how many tokens are taken or given. Returns whether they were taken, and the tokens that there
-- were before, as text: a number would lose what is behind its point.
-- A bucket is its tokens, when it had them, and the rate it fills at. One that is not there, or cannot be read, is full.
local capacity, refill, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local tokens = capacity
local kept = redis.pcall('GET', KEYS[1]) -- which fails on what is no text
local was = type(kept) == 'string' and {string.match(kept, '^(%S+) (%S+) (%S+) (%S+)$')}
for i = 1, 4 do was = was and tonumber(was[i]) and was end
if was then
  local at = tonumber(was[2])
  now = math.max(now, at) -- a clock that is set back gives nothing
  tokens = math.min(tonumber(was[3]), tonumber(was[1]) + (now - at) / 1000000 * tonumber(was[4]))
  tokens = math.min(capacity, tokens)
end
local given, n = ARGV[3] == 'give', tonumber(ARGV[5])
if given then
  tokens = math.min(capacity, tokens + n)
end
-- A token that is less than a nanosecond away is there, as it is to whoever computes the wait.
local taken = ARGV[3] == 'take' and (n - tokens) / refill < 1e-9
if taken or given or was and (tonumber(was[3]) ~= capacity or tonumber(was[4]) ~= refill) then
  local left = taken and math.max(0, tokens - n) or tokens
  -- It is forgotten a minute after it is full, in thirty years at the latest.
  local full = math.min((capacity - left) / refill + 60, 1e9)
  redis.call('SET', KEYS[1], string.format('%.17g %.17g %.17g %.17g', left, now, capacity, refill),
    'PX', string.format('%.0f', math.ceil(full * 1000)))
end
return {taken and 1 or 0, string.format('%.17g', tokens)}
