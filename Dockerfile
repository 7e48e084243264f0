# syntax=docker/dockerfile:1
# Three stages. The first compiles and gathers. The second unpacks the few Debian packages that the gateway needs. The image
# itself starts from nothing: compiled JavaScript, production dependencies and one Node binary, the one that the lock file
# names and the tests ran on (docs/decisions/0001).

# For both stages that build: Debian 13 with npm. The digest is that of the index, which has amd64 and arm64.
ARG BASE=node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe

FROM ${BASE} AS build
WORKDIR /src
RUN apt-get update \
 && apt-get install --yes --no-install-recommends binutils git \
 && rm -rf /var/lib/apt/lists/*
COPY package.json package-lock.json .npmrc ./
COPY engine/package.json ./engine/
COPY gateway/package.json ./gateway/
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY engine ./engine
COPY gateway ./gateway
RUN npm run build
# The Node binary leaves node_modules before the rest of the carried package (headers, manual pages) is dropped. Symbols for a
# debugger are a sixth of it. Of git, the gateway calls what is in its one binary; the scripts around it need Perl.
RUN mkdir -p /out/bin /out/data \
 && cp --dereference node_modules/.bin/node /out/bin/node \
 && strip /out/bin/node \
 && cp /usr/bin/git /out/bin/git \
 && chmod 755 dist/gateway/preflight.js \
 && ln -s /app/gateway/preflight.js /out/bin/preflight \
 && npm prune --omit=dev --omit=optional --no-audit --no-fund \
 && npm sbom --package-lock-only --omit=dev --omit=optional --sbom-format=spdx > /out/sbom.spdx.json \
 && find node_modules -type f \( -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.map' \) -delete \
 && rm -rf node_modules/.cache node_modules/bintrees/test \
 && find node_modules -depth -type d -empty -delete

FROM ${BASE} AS system
# For apt the root is empty, so the packages come with all that they need. Their scripts are not run. What they would make
# is made here: the merged /usr, the names of iptables, the applets of busybox. A scanner finds the packages in status.d.
RUN mkdir -p /rootfs/usr/bin /rootfs/usr/sbin /rootfs/usr/lib /rootfs/usr/lib64 /rootfs/var/lib/dpkg/status.d /debs/partial \
 && for merged in bin sbin lib lib64; do ln -s usr/$merged /rootfs/$merged; done \
 && : > /debs/status \
 && apt-get update \
 && apt-get install --yes --no-install-recommends --download-only -o Dir::State::status=/debs/status -o Dir::Cache::archives=/debs \
      base-files busybox-static iptables libc6 libpcre2-8-0 libstdc++6 zlib1g \
 && for deb in /debs/*.deb; do \
      dpkg-deb --fsys-tarfile "$deb" | tar --extract --keep-directory-symlink --directory /rootfs \
      && dpkg-deb --field "$deb" > "/rootfs/var/lib/dpkg/status.d/$(dpkg-deb --field "$deb" Package)" || exit 1; \
    done \
 && cd /rootfs \
 && rm -rf usr/share/man usr/share/locale usr/share/lintian usr/share/bug usr/lib/*/gconv \
 && find usr/share/doc -type f ! -name copyright -delete \
 && for name in iptables iptables-restore iptables-save ip6tables ip6tables-restore ip6tables-save; do \
      ln -s xtables-nft-multi usr/sbin/$name; \
    done \
 && for applet in cat cp env id kill ls mkdir ps rm sh sleep touch; do ln -s busybox usr/bin/$applet; done \
 && printf 'root:x:0:0::/root:/bin/sh\npreflight:x:65532:65532::/var/lib/preflight:/bin/sh\n' > etc/passwd \
 && printf 'root:x:0:\npreflight:x:65532:\n' > etc/group \
 && find . -depth -type d -empty -path './usr/*' -delete \
 && mkdir -p proc sys dev run tmp && chmod 1777 tmp

FROM scratch
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Preflight Gateway" \
      org.opencontainers.image.description="Policy gateway for the contracts behind an agent's outbound calls" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

COPY --from=system /rootfs /
# Node, git, and preflight for `kubectl exec … preflight` and the like.
COPY --from=build /out/bin /usr/local/bin
WORKDIR /app
COPY --from=build /src/node_modules ./node_modules
COPY --from=build /src/dist ./
COPY package.json LICENSE ./
COPY policies ./policies
COPY --from=build /out/sbom.spdx.json ./
# Mounted volumes take over owner and mode of this directory; everything else may be read-only.
COPY --from=build --chown=65532:65532 /out/data /var/lib/preflight

# Inside a container the loopback defaults would be out of reach of the pod's probes and peers. Two arenas of memory are
# enough: glibc gives every thread its own, and what was freed in one stays with it (6 MB of an idle gateway). V8 compiles in
# blocks of 8 to 32 KB, which leave holes among what stays. Blocks of 16 KB and more are mapped on their own, so they go back
# (25 MB after half a minute of traffic). At most 8192 of them: a process may have 65,530 mappings.
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=2 \
    MALLOC_TRIM_THRESHOLD_=16384 \
    MALLOC_TOP_PAD_=16384 \
    MALLOC_MMAP_THRESHOLD_=16384 \
    MALLOC_MMAP_MAX_=8192 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    PREFLIGHT_DATA_DIR=/var/lib/preflight \
    PREFLIGHT_PROXY_LISTEN=0.0.0.0:15080 \
    PREFLIGHT_API_LISTEN=0.0.0.0:15081 \
    PREFLIGHT_ADMIN_LISTEN=0.0.0.0:15090
VOLUME /var/lib/preflight
EXPOSE 15080 15081 15090
USER 65532:65532
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:15090/livez').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Absolute: commands such as `ci` run in the folder of their caller. V8 would give new values 16 MiB, and keeps three of them.
ENTRYPOINT ["node", "--max-semi-space-size=8", "/app/gateway/preflight.js"]
CMD ["serve"]
